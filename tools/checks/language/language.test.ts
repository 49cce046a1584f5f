import { describe, expect, test } from 'vitest'
import { risenAreas } from '../language.ts'
import { proseOfMarkdown, proseOfSource } from './extract.ts'
import { nounOffence, offencesIn, pronounOffence, sentencesOf, stemsOf } from './wording.ts'

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

describe('docstrings', () => {
  const isPronoun = (text: string): boolean => pronounOffence(text) !== undefined
  const lacksNoun = (text: string, code: string): boolean =>
    nounOffence(text, code, stemsOf('storage checkpoint')) !== undefined

  test('begin with no pronoun, alone or before a verb or a preposition', () => {
    const wrong = [
      'It ends.',
      'What a page has.',
      'Those of the file.',
      'One that ends.',
      'The same for lists.',
      'All.',
    ]
    expect(wrong.filter((text) => !isPronoun(text))).toEqual([])
  })

  test('may begin with a number or a determiner that has its noun', () => {
    const right = [
      'One page.',
      'This number.',
      'All pages of it.',
      'The same page.',
      'Another handle.',
      'Items. It ends.',
    ]
    expect(right.filter(isPronoun)).toEqual([])
  })

  test('have a word of the code below in their first sentence, in any form and within names', () => {
    expect(lacksNoun('Pages that wait.', 'const pageIds = 1')).toBe(false)
    expect(lacksNoun('Whole lines. Pages.', 'const pageIds = 1')).toBe(true)
  })

  test('may have a word of the glossary instead', () => {
    expect(lacksNoun('After storage checkpoints.', 'const x = 1')).toBe(false)
  })

  test('are read with the declaration below, or with the exports of a file', () => {
    const text =
      '/** The head. */\nimport a from "a"\n\n/** Docs. */\nexport function one(): void {\n  two()\n\n  three()\n}\n'
    const [head, docs] = proseOfSource('a.ts', text).blocks
    expect(head!.code).toBe('a.ts\nexport function one(): void {')
    expect(docs!.code).toBe('export function one(): void {\n  two()')
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
