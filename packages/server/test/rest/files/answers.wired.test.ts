/** Goal: files are served as the real PocketBase serves them: headers, ranges, conditions, names, thumbs. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startRest } from '../rest-server.ts'
import type { RestServer } from '../rest-server.ts'
import { askAll, type FileAnswer } from './ask.ts'
import { fileCases } from './cases.ts'
import golden from './golden/files.json' with { type: 'json' }

/** Where our answer is another on purpose. */
const DEPARTURES: readonly (readonly [asked: RegExp, why: string])[] = [
  [/^\w+ animated\.webp /, 'PocketBase can not read pictures that move in WebP'],
]
/** Of 255: filters and encoders differ. */
const DIFFERENCE_MAX = 24

let server: RestServer

beforeAll(async () => {
  server = await startRest()
})
afterAll(() => server.close())

function differences(real: FileAnswer, ours: FileAnswer): unknown {
  // Ours always says who may keep an answer.
  const { 'cache-control': kept, ...headers } = ours.headers
  const isError = real.headers['cache-control'] === undefined
  const shown = isError ? headers : { ...headers, 'cache-control': kept }
  const found = { status: ours.status, headers: shown, body: ours.body }
  const wanted = { status: real.status, headers: real.headers, body: real.body }
  const points = (real.points ?? []).map((point, at) => Math.abs(point - (ours.points?.[at] ?? -255)))
  const isFar = Math.max(0, ...points) > DIFFERENCE_MAX
  const isEqual = JSON.stringify(sorted(found)) === JSON.stringify(sorted(wanted))
  return isEqual && !isFar ? undefined : { asked: real.asked, wanted, found, ...(isFar && { points }) }
}

function sorted({ headers, ...rest }: { readonly headers: object }): unknown {
  return { ...rest, headers: Object.entries(headers).toSorted(([one], [other]) => (one < other ? -1 : 1)) }
}

test('every file is answered as by the real PocketBase', async () => {
  const ours = await askAll(server.url, server.token, await fileCases())
  const real = golden.answers as unknown as readonly FileAnswer[]
  expect(ours.map(({ asked }) => asked)).toEqual(real.map(({ asked }) => asked))
  const wrong = real.flatMap((answer, at) => {
    if (DEPARTURES.some(([asked]) => asked.test(answer.asked))) return []
    return differences(answer, ours[at]!) ?? []
  })
  expect(wrong).toEqual([])
})
