/** Which type a file has, by its first bytes. The name that it came with says nothing. */

import { TEXT_EXTENSIONS, typeOfText } from './text-types.ts'

interface Signature {
  readonly type: string
  readonly extension: string
  readonly at?: number
  /** The start of such files, in Latin-1. */
  readonly starts: readonly string[]
}

const SIGNATURES: readonly Signature[] = [
  { type: 'image/png', extension: '.png', starts: ['\x89PNG\r\n\x1a\n'] },
  { type: 'image/jpeg', extension: '.jpg', starts: ['\xff\xd8\xff'] },
  { type: 'image/gif', extension: '.gif', starts: ['GIF87a', 'GIF89a'] },
  { type: 'image/bmp', extension: '.bmp', starts: ['BM'] },
  { type: 'image/x-icon', extension: '.ico', starts: ['\0\0\x01\0'] },
  { type: 'image/tiff', extension: '.tiff', starts: ['II*\0', 'MM\0*'] },
  { type: 'image/vnd.adobe.photoshop', extension: '.psd', starts: ['8BPS'] },
  { type: 'image/webp', extension: '.webp', at: 8, starts: ['WEBP'] },
  { type: 'audio/wav', extension: '.wav', at: 8, starts: ['WAVE'] },
  { type: 'video/x-msvideo', extension: '.avi', at: 8, starts: ['AVI LIST'] },
  { type: 'image/avif', extension: '.avif', at: 4, starts: ['ftypavif', 'ftypavis'] },
  { type: 'image/heic', extension: '.heic', at: 4, starts: ['ftypheic', 'ftypheix'] },
  { type: 'image/heif', extension: '.heif', at: 4, starts: ['ftypmif1', 'ftypheim', 'ftypheis', 'ftypavic'] },
  { type: 'video/quicktime', extension: '.mov', at: 4, starts: ['ftypqt  ', 'moov', 'mdat', 'wide', 'skip', 'free'] },
  { type: 'audio/x-m4a', extension: '.m4a', at: 4, starts: ['ftypM4A '] },
  { type: 'video/x-m4v', extension: '.m4v', at: 4, starts: ['ftypM4V '] },
  { type: 'video/3gpp', extension: '.3gp', at: 4, starts: ['ftyp3gp', 'ftyp3gs', 'ftyp3ge', 'ftyp3gg', 'ftyp3gr'] },
  { type: 'video/mp4', extension: '.mp4', at: 4, starts: ['ftyp'] },
  { type: 'video/mpeg', extension: '.mpeg', starts: ['\0\0\x01\xb3', '\0\0\x01\xba'] },
  { type: 'audio/mpeg', extension: '.mp3', starts: ['ID3', '\xff\xfb', '\xff\xf3', '\xff\xf2'] },
  { type: 'audio/flac', extension: '.flac', starts: ['fLaC'] },
  { type: 'audio/midi', extension: '.midi', starts: ['MThd'] },
  { type: 'audio/aac', extension: '.aac', starts: ['\xff\xf1', '\xff\xf9'] },
  { type: 'application/pdf', extension: '.pdf', starts: ['%PDF-', '\n%PDF-', '\xef\xbb\xbf%PDF-'] },
  { type: 'application/gzip', extension: '.gz', starts: ['\x1f\x8b'] },
  { type: 'application/x-7z-compressed', extension: '.7z', starts: ['7z\xbc\xaf\x27\x1c'] },
  { type: 'application/x-bzip2', extension: '.bz2', starts: ['BZh'] },
  { type: 'application/x-xz', extension: '.xz', starts: ['\xfd7zXZ\0'] },
  { type: 'application/zstd', extension: '.zst', starts: ['(\xb5/\xfd'] },
  { type: 'application/x-rar-compressed', extension: '.rar', starts: ['Rar!\x1a\x07'] },
  { type: 'application/x-tar', extension: '.tar', at: 257, starts: ['ustar'] },
  { type: 'application/vnd.sqlite3', extension: '.sqlite', starts: ['SQLite format 3\0'] },
  { type: 'application/wasm', extension: '.wasm', starts: ['\0asm'] },
  { type: 'application/x-elf', extension: '', starts: ['\x7fELF'] },
  { type: 'application/vnd.microsoft.portable-executable', extension: '.exe', starts: ['MZ'] },
  { type: 'font/woff', extension: '.woff', starts: ['wOFF'] },
  { type: 'font/woff2', extension: '.woff2', starts: ['wOF2'] },
  { type: 'font/ttf', extension: '.ttf', starts: ['\0\x01\0\0'] },
  { type: 'font/otf', extension: '.otf', starts: ['OTTO\0'] },
]

/** Parts of the first names in ZIP files. */
const ZIPPED: readonly (readonly [name: string, type: string, extension: string])[] = [
  ['word/', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document', '.docx'],
  ['xl/', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', '.xlsx'],
  ['ppt/', 'application/vnd.openxmlformats-officedocument.presentationml.presentation', '.pptx'],
  ['mimetypeapplication/epub+zip', 'application/epub+zip', '.epub'],
  ['mimetypeapplication/vnd.oasis.opendocument.text', 'application/vnd.oasis.opendocument.text', '.odt'],
  ['mimetypeapplication/vnd.oasis.opendocument.spreadsheet', 'application/vnd.oasis.opendocument.spreadsheet', '.ods'],
  ['META-INF/MANIFEST.MF', 'application/java-archive', '.jar'],
]

const UNKNOWN = 'application/octet-stream'

/** The bytes that tell a type. */
export const HEAD_BYTES = 3072

/** A text has its charset behind the type. `head`: the first `HEAD_BYTES`, or all. */
export function typeOf(content: Uint8Array): string {
  const head = content.subarray(0, HEAD_BYTES)
  const latin = Buffer.from(head.buffer, head.byteOffset, head.length).toString('latin1')
  const isThere = ({ at = 0, starts }: Signature): boolean => starts.some((start) => latin.startsWith(start, at))
  const known = SIGNATURES.find(isThere)
  if (known !== undefined) return known.type
  if (latin.startsWith('PK\x03\x04')) return typeOfZip(latin)
  if (latin.startsWith('OggS')) return latin.includes('theora') ? 'video/ogg' : 'audio/ogg'
  if (latin.startsWith('\x1aE\xdf\xa3')) return latin.includes('webm') ? 'video/webm' : 'video/x-matroska'
  return typeOfText(head, content.length < HEAD_BYTES) ?? UNKNOWN
}

function typeOfZip(latin: string): string {
  return ZIPPED.find(([name]) => latin.includes(name))?.[1] ?? 'application/zip'
}

const EXTENSIONS = new Map<string, string>([
  ...SIGNATURES.map(({ type, extension }) => [type, extension] as const),
  ...ZIPPED.map(([, type, extension]) => [type, extension] as const),
  ...TEXT_EXTENSIONS,
  ['application/zip', '.zip'],
  ['audio/ogg', '.oga'],
  ['video/ogg', '.ogv'],
  ['video/webm', '.webm'],
  ['video/x-matroska', '.mkv'],
])

/** The extension of a type; `''` if it has none. */
export function extensionOf(type: string): string {
  return EXTENSIONS.get(nameOf(type)) ?? ''
}

/** Other names of the same type. */
const ALIASES: readonly (readonly string[])[] = [
  ['image/bmp', 'image/x-bmp', 'image/x-ms-bmp'],
  ['image/x-icon', 'image/vnd.microsoft.icon'],
  ['audio/wav', 'audio/x-wav', 'audio/vnd.wave', 'audio/wave'],
  ['audio/mpeg', 'audio/x-mpeg', 'audio/mp3'],
  ['video/x-msvideo', 'video/avi', 'video/msvideo'],
  ['video/mp4', 'audio/mp4'],
  ['application/pdf', 'application/x-pdf'],
  ['application/zip', 'application/x-zip', 'application/x-zip-compressed'],
  ['application/gzip', 'application/x-gzip', 'application/x-gunzip', 'application/gzipped'],
  ['application/vnd.sqlite3', 'application/x-sqlite3'],
  ['text/xml', 'application/xml'],
  ['text/rtf', 'application/rtf'],
  ['text/javascript', 'application/x-javascript', 'application/javascript'],
]

/** Whether a type is allowed. Parameters such as `charset` do not count. */
export function isType(type: string, allowed: string): boolean {
  const [name, other] = [nameOf(type), nameOf(allowed)]
  return name === other || ALIASES.some((names) => names.includes(name) && names.includes(other))
}

function nameOf(type: string): string {
  return type.split(';', 1)[0]!.trim().toLowerCase()
}
