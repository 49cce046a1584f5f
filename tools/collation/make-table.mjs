/**
 * Makes packages/server/src/design/collation/root-table.ts of what dump-elements.c prints (docs/adr/0021-collation.md).
 * Usage: dump-elements | node tools/collation/make-table.mjs > packages/server/src/design/collation/root-table.ts
 *
 * Weights are replaced by their ranks: the order is all that counts.
 */
import { readFileSync } from 'node:fs'
import { deflateRawSync } from 'node:zlib'

const lines = readFileSync(0, 'utf8').trim().split('\n')
/** A text and its elements: [primary, secondary, tertiary] in hexadecimal, as text that compares like the weights. */
const mapped = lines.map((line) => {
  const [units, weights] = line.split(';')
  const text = String.fromCharCode(...units.split(' ').map((unit) => parseInt(unit, 16)))
  const elements = []
  for (const word of weights.trim().split(' ').filter(Boolean)) {
    const [primary, secondary, tertiary] = [word.slice(0, 4), word.slice(4, 6), parseInt(word.slice(6), 16)]
    const third = (tertiary & 0x3f).toString(16).padStart(2, '0')
    if ((tertiary & 0xc0) === 0xc0) {
      const last = elements.at(-1)
      last[0] += primary
      last[1] += secondary
      last[2] += third
    } else elements.push([primary, secondary, third])
  }
  const trimmed = elements.map((element) => element.map((weight) => weight.replace(/(00)+$/, '')))
  return { text, elements: trimmed.filter((element) => element.some((weight) => weight !== '')) }
})

const ranksOf = (level) => {
  const weights = [...new Set(mapped.flatMap(({ elements }) => elements.map((element) => element[level])))].sort()
  return new Map((weights[0] === '' ? weights : ['', ...weights]).map((weight, rank) => [weight, rank]))
}
const ranks = [ranksOf(0), ranksOf(1), ranksOf(2)]
/** Code points in a row whose primaries are in a row: [code point, how many, primary, secondary, tertiary]. */
const runs = []
/** [text, ...elements], the three ranks of each one after another. */
const singles = []
const ranked = mapped.map(({ text, elements }) => [
  text,
  elements.map((element) => element.map((weight, at) => ranks[at].get(weight))),
])
ranked.sort(([left], [right]) => left.length - right.length || left.codePointAt(0) - right.codePointAt(0))
for (const [text, elements] of ranked) {
  const run = runs.at(-1)
  const codePoint = text.codePointAt(0)
  const isOne = Array.from(text).length === 1 && elements.length === 1
  const [primary, secondary, tertiary] = elements[0] ?? []
  if (
    isOne &&
    run &&
    codePoint === run[0] + run[1] &&
    primary === run[2] + run[1] &&
    secondary === run[3] &&
    tertiary === run[4]
  )
    run[1]++
  else if (isOne && primary > 0) runs.push([codePoint, 1, primary, secondary, tertiary])
  else singles.push([text, ...elements.flat()])
}
const table = {
  primaries: ranks[0].size,
  commonSecondary: ranks[1].get('05'),
  commonTertiary: ranks[2].get('05'),
  runs,
  singles,
}
console.error(
  ranks.map(({ size }) => size),
  'ranks;',
  runs.length,
  'runs;',
  singles.length,
  'singles',
)
const data = deflateRawSync(JSON.stringify(table), { level: 9 }).toString('base64')
console.log(`/**
 * The root collation of CLDR 42 (Unicode 15.0), made by tools/collation/make-table.mjs of ICU 72's own. Not to be edited.
 *
 * Copyright 1991-2023 Unicode, Inc. Licensed under the Unicode License v3: https://www.unicode.org/license.txt
 */

/** JSON, deflated, in base64. */
export const ROOT_TABLE =
  // oxfmt-ignore
  '${data}'`)
