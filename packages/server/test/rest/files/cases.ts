/** Files that are uploaded, and how they are asked for: to our server, and to the real PocketBase. */
import sharp from 'sharp'
import type { Sharp } from 'sharp'

/** A file, and the parameters and headers of the requests for it. */
export interface FileCase {
  readonly name: string
  readonly content: Uint8Array
  readonly requests: readonly FileRequest[]
}

export interface FileRequest {
  /** `thumb=70x50&download=1` */
  readonly query?: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Those of the field. */
export const THUMBS: readonly string[] = [
  '70x50',
  '70x50t',
  '70x50b',
  '70x50f',
  '0x50',
  '70x0',
  '400x300',
  '400x300f',
  '400x0',
  '1x1',
  '30x90t',
  '90x30b',
  '100x100f',
  '33x77f',
  '007x5',
]

const PLAIN: readonly FileRequest[] = [{}]
const OLD = 'Mon, 02 Jan 2006 15:04:05 GMT'
const FUTURE = 'Fri, 01 Jan 2100 00:00:00 GMT'

const range = (text: string): FileRequest => ({ headers: { range: text } })

/** Requests for a file of 1,000 bytes. */
const TRANSFERS: readonly FileRequest[] = [
  {},
  { method: 'HEAD' },
  range('bytes=0-9'),
  range('bytes=990-'),
  range('bytes=990-5000'),
  range('bytes=-5'),
  range('bytes=-5000'),
  range('bytes=-0'),
  range('bytes=0-'),
  range('bytes=5-4'),
  range('bytes=1000-'),
  range('bytes=999-'),
  range('bytes=2000-3000'),
  range('bytes=--5'),
  range('bytes=a-b'),
  range('bytes=1-2-3'),
  range('bytes=+1-2'),
  range('bytes='),
  range('bytes=,'),
  range('bytes= 1 - 3 '),
  range('bytes=1-3 '),
  range('Bytes=1-3'),
  range('items=1-3'),
  range('bytes=0-1,5-6'),
  range('bytes=0-1, 5-6, -3'),
  range('bytes=0-1,,5-6'),
  range('bytes=0-1,2000-3000'),
  range('bytes=2000-3000,4000-'),
  range('bytes=0-1,x'),
  range('bytes=0-999,0-999'),
  range('bytes=0-599,400-999'),
  range('bytes=99999999999999999999-'),
  range('bytes=0-99999999999999999999'),
  range('bytes=9223372036854775807-'),
  { method: 'HEAD', headers: { range: 'bytes=0-9' } },
  { method: 'HEAD', headers: { range: 'bytes=0-1,5-6' } },
  { method: 'HEAD', headers: { range: 'bytes=2000-' } },
  { headers: { 'if-modified-since': OLD } },
  { headers: { 'if-modified-since': FUTURE } },
  { headers: { 'if-modified-since': 'never' } },
  { headers: { 'if-modified-since': 'Sunday, 06-Nov-94 08:49:37 GMT' } },
  { headers: { 'if-modified-since': 'Fri Jan  1 00:00:00 2100' } },
  { headers: { 'if-modified-since': '2100-01-01' } },
  { method: 'HEAD', headers: { 'if-modified-since': FUTURE } },
  { headers: { 'if-unmodified-since': OLD } },
  { headers: { 'if-unmodified-since': FUTURE } },
  { headers: { 'if-unmodified-since': 'never' } },
  { headers: { 'if-none-match': '*' } },
  { headers: { 'if-none-match': '"x"' } },
  { headers: { 'if-none-match': '"x"', 'if-modified-since': FUTURE } },
  { headers: { 'if-match': '*' } },
  { headers: { 'if-match': '"x"' } },
  { headers: { 'if-match': '"x"', range: 'bytes=0-1' } },
  { headers: { 'if-range': OLD, range: 'bytes=0-1' } },
  { headers: { 'if-range': FUTURE, range: 'bytes=0-1' } },
  { headers: { 'if-range': '"x"', range: 'bytes=0-1' } },
  { headers: { 'if-range': 'W/"x"', range: 'bytes=0-1' } },
  { headers: { 'if-modified-since': FUTURE, range: 'bytes=0-1' } },
  { query: 'download=1' },
  { query: 'download=0' },
  { query: 'download=true' },
  { query: 'download=T' },
  { query: 'download=yes' },
  { query: 'download' },
  { query: 'thumb=100x100' },
  { query: 'token=abc' },
]

/** Requests for a picture. */
const PICTURES: readonly FileRequest[] = [
  {},
  { query: 'download=1' },
  { query: 'download=0' },
  { query: 'download=yes' },
  { query: 'download=TRUE' },
  ...THUMBS.map((size) => ({ query: `thumb=${size}` })),
  { query: 'thumb=100x100' },
  { query: 'thumb=100x100t' },
  { query: 'thumb=71x50' },
  { query: 'thumb=' },
  { query: 'thumb=x' },
  { query: 'thumb=70x50&download=1' },
  { query: 'thumb=70x50', method: 'HEAD' },
]
const FEW: readonly FileRequest[] = ['100x100', '70x50', '0x50', '400x300f', '30x90t'].map((size) => ({
  query: `thumb=${size}`,
}))

const text = (content: string): Uint8Array => Buffer.from(content)
const latin = (content: string): Uint8Array => Buffer.from(content, 'latin1')

const OTHERS: readonly (readonly [name: string, content: Uint8Array])[] = [
  ['plain.txt', text('just some text')],
  ['accents.txt', text('žluťoučký kůň')],
  ['latin.txt', latin('caf\xe9 au lait, d\xe9j\xe0 vu')],
  ['windows.txt', latin('\x93quoted\x94 text')],
  ['bom.txt', latin('\xef\xbb\xbfbom')],
  ['utf16.txt', latin('\xff\xfeh\0i\0')],
  ['page.html', text('<!DOCTYPE html><html><body><script>alert(1)</script></body></html>')],
  ['meta.html', text('<html><head><meta charset="iso-8859-2"></head></html>')],
  ['page.htm', text('<h1>x</h1>')],
  ['picture.svg', text('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')],
  ['declared.svg', text('<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"></svg>')],
  ['lies.svg', text('no picture')],
  ['lies.png', text('no picture')],
  ['lies.txt', text('<svg xmlns="http://www.w3.org/2000/svg"></svg>')],
  ['style.css', text('body { color: red }')],
  ['code.js', text('alert(1)')],
  ['module.mjs', text('export default 1')],
  ['UPPER.JS', text('alert(1)')],
  ['data.json', text('{"a":1}')],
  ['list.json', text('[1,2,3]')],
  ['data.xml', text('<?xml version="1.0" encoding="UTF-8"?><a/>')],
  ['table.csv', text('a,b,c\n1,2,3\n4,5,6\n')],
  ['table.tsv', text('a\tb\tc\n1\t2\t3\n')],
  ['long.json', text(JSON.stringify(Array.from({ length: 600 }, (_, at) => ({ at, text: 'x"y' }))))],
  ['long.csv', text('a,b,"c\n1",d\n'.repeat(400))],
  ['ragged.csv', text('a,b\n1\n')],
  ['node.js', text('#!/usr/bin/env node\n')],
  ['film.srt', text('1\n00:00:01,000 --> 00:00:02,000\nx\n')],
  ['strict.html', text('<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"></html>')],
  ['letter.rtf', text('{\\rtf1 x}')],
  ['lines.ndjson', text('{"a":1}\n{"a":2}\n')],
  ['card.vcf', text('BEGIN:VCARD\nVERSION:3.0\nEND:VCARD\n')],
  ['meeting.ics', text('BEGIN:VCALENDAR\nVERSION:2.0\nEND:VCALENDAR\n')],
  ['films.vtt', text('WEBVTT\n\n00:01.000 --> 00:04.000\nx\n')],
  ['script.sh', text('#!/bin/sh\necho hi\n')],
  ['script.py', text('#!/usr/bin/env python\nprint(1)\n')],
  ['script.php', text('<?php echo 1;')],
  ['feed.rss', text('<?xml version="1.0"?><rss version="2.0"></rss>')],
  ['empty-ish.bin', latin('\0')],
  ['document.pdf', latin('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n')],
  ['sound.mp3', latin('ID3\x03\0\0\0\0\0\0')],
  ['sound.wav', latin('RIFF\x24\0\0\0WAVEfmt ')],
  ['film.mp4', latin('\0\0\0\x18ftypmp42\0\0\0\0mp42isom')],
  [
    'film.webm',
    latin('\x1aE\xdf\xa3\x01\0\0\0\0\0\0\x1fB\x86\x81\x01B\xf7\x81\x01B\xf2\x81\x04B\xf3\x81\x08B\x82\x84webm'),
  ],
  ['archive.zip', latin(`PK\x03\x04\x14\0\0\0\0\0${'\0'.repeat(16)}\x05\0\0\0a.txt`)],
  ['archive.tar.gz', latin('\x1f\x8b\x08\0\0\0\0\0\0\x03')],
  ['letter.docx', text('not one')],
  ['sheet.xlsx', text('not one')],
  ['slides.pptx', text('not one')],
  ['icon.ico', latin('\0\0\x01\0\x01\0\x10\x10\0\0\x01\0\x20\0')],
  ['program.wasm', latin('\0asm\x01\0\0\0')],
  ['My File (1).TXT', text('x')],
  ['ünïcödé 名前.txt', text('x')],
  ['.hidden', text('x')],
  ['noextension', text('x')],
  ['quote".txt', text('x')],
  ["apostrophe's.txt", text('x')],
  ['semi;colon=.txt', text('x')],
  ['percent%20%2e.txt', text('x')],
  ['a+b&c#d?.txt', text('x')],
  ['.._.._etc_passwd', text('x')],
  ['x.tar.gz', text('x')],
  ['x.verylongextensionthatiscut', text('x')],
]

/** Four colours in the quarters, so that a cut or a turn shows. */
function picture(width: number, height: number): Sharp {
  const pixels = Buffer.alloc(width * height * 3)
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const at = (y * width + x) * 3
      pixels[at] = x * 2 < width ? 220 : 30
      pixels[at + 1] = y * 2 < height ? 200 : 40
      pixels[at + 2] = Math.floor((x * 255) / width)
    }
  return sharp(pixels, { raw: { width, height, channels: 3 } })
}

async function pictures(): Promise<FileCase[]> {
  const png = await picture(300, 200).png().toBuffer()
  const second = await picture(300, 200).negate().png().toBuffer()
  const animated = await sharp([png, second], { join: { animated: true } })
    .gif({ delay: [100, 100] })
    .toBuffer()
  const orientations = await Promise.all(
    [3, 5, 6, 8].map(async (orientation): Promise<FileCase> => ({
      name: `turned${orientation}.jpg`,
      content: await picture(300, 200).withMetadata({ orientation }).jpeg({ quality: 90 }).toBuffer(),
      requests: FEW,
    })),
  )
  return [
    { name: 'picture.png', content: png, requests: PICTURES },
    { name: 'picture.jpg', content: await picture(300, 200).jpeg({ quality: 90 }).toBuffer(), requests: PICTURES },
    ...orientations,
    { name: 'picture.gif', content: await picture(300, 200).gif().toBuffer(), requests: PICTURES },
    { name: 'animated.gif', content: animated, requests: FEW },
    { name: 'picture.webp', content: await picture(300, 200).webp().toBuffer(), requests: PICTURES },
    { name: 'animated.webp', content: await sharp(animated, { animated: true }).webp().toBuffer(), requests: FEW },
    { name: 'picture.tiff', content: await picture(30, 20).tiff().toBuffer(), requests: FEW },
    { name: 'picture.avif', content: await picture(30, 20).avif().toBuffer(), requests: FEW },
    { name: 'tall.png', content: await picture(50, 401).png().toBuffer(), requests: PICTURES },
    { name: 'wide.png', content: await picture(401, 7).png().toBuffer(), requests: PICTURES },
    { name: 'dot.png', content: await picture(1, 1).png().toBuffer(), requests: FEW },
    { name: 'alpha.png', content: await picture(64, 64).ensureAlpha(0.5).png().toBuffer(), requests: FEW },
    {
      name: 'alpha.webp',
      content: await picture(64, 64).ensureAlpha(0.5).webp({ lossless: true }).toBuffer(),
      requests: FEW,
    },
    { name: 'broken.png', content: png.subarray(0, 200), requests: FEW },
    { name: 'head.png', content: png.subarray(0, 8), requests: FEW },
  ]
}

export async function fileCases(): Promise<readonly FileCase[]> {
  const digits = '0123456789'.repeat(100)
  return [
    { name: 'thousand.txt', content: text(digits), requests: TRANSFERS },
    { name: 'empty.txt', content: text(''), requests: [{}, range('bytes=0-'), range('bytes=-1'), range('bytes=1-2')] },
    ...OTHERS.map(([name, content]) => ({ name, content, requests: PLAIN })),
    ...(await pictures()),
  ]
}
