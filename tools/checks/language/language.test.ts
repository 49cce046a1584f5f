import { describe, expect, test } from 'vitest'
import { risenAreas } from '../language.ts'
import { proseOfMarkdown, proseOfSource } from './extract.ts'
import { offencesIn, sentencesOf } from './wording.ts'

const LIMITS = { wordsMax: 5 }

function rulesOf(text: string): readonly string[] {
  return offencesIn(text, LIMITS).map(({ rule }) => rule.split(' (')[0]!)
}

test('no area has more offences than language.json allows', () => {
  expect(risenAreas()).toEqual([])
})

describe('sentences', () => {
  test('end at a full stop before a capital letter, a digit or code, not after an abbreviation', () => {
    const text = 'It reads, e.g. One page. 2 follow. `x.y` ends. Version 1.2 is\nnew! Is it?'
    expect(sentencesOf(text)).toHaveLength(5)
  })

  test('end with their paragraph', () => {
    expect(sentencesOf('a heading\n\nand a text')).toEqual(['a heading', 'and a text'])
  })
})

describe('offences', () => {
  test('are banned words, words without their qualifier and long sentences', () => {
    expect(rulesOf('Whoever asks.')).toEqual(['"Whoever"'])
    expect(rulesOf('It is read anew.')).toEqual(['"anew"'])
    expect(rulesOf('Write a checkpoint.')).toEqual(['"checkpoint"'])
    expect(rulesOf('one two three four five six')).toEqual(['6 words'])
  })

  test('are not in code, in links, in plain sentences or in a storage checkpoint', () => {
    expect(rulesOf('Call `checkpoint anew`.')).toEqual([])
    expect(rulesOf('See [the page](anew.md).')).toEqual([])
    expect(rulesOf('A storage checkpoint empties it.')).toEqual([])
  })
})

describe('source', () => {
  const source = `/** The head. */
import { x } from './x.ts'
/** A docstring. @example code here */
export function f(): void {
  // One comment
  // on two lines.
  throw new TypeError(\`wrong \${x} here\` + ' and there')
}
test('a name of a test', () => {})
`
  const prose = proseOfSource('a.ts', source)

  test('has heads, docstrings, comments, errors and names of tests, each with its line', () => {
    expect(prose.head).toEqual([{ line: 1, text: 'The head.' }])
    expect(prose.docstrings).toEqual([{ line: 3, text: 'A docstring.' }])
    expect(prose.comments).toEqual([{ line: 5, text: 'One comment on two lines.' }])
    expect(prose.errors).toEqual([{ line: 7, text: 'wrong X here and there' }])
    expect(prose.tests).toEqual([{ line: 9, text: 'a name of a test' }])
  })

  test('has argument errors of one form', () => {
    const formOf = (text: string): number => proseOfSource('a.ts', `throw new TypeError(${text})`).badForms.length
    expect(formOf('`it is a number`')).toBe(1)
    expect(formOf('`open(): size must be a number, got ${size}`')).toBe(0)
  })
})

test('Markdown has paragraphs, items and cells, without blocks of code', () => {
  const text =
    '# Title\n\nA text\nof two lines.\n\n- item\n  goes further\n- next\n\n```ts\ncode here\n```\n\n| a | b c |\n'
  const pieces = proseOfMarkdown(text).map((piece) => piece.text)
  expect(pieces).toEqual(['Title', 'A text of two lines.', 'item goes further', 'next', 'a', 'b c'])
})
