import { describe, expect, test } from 'vitest'
import { excerpt } from '../../../src/fields/excerpt.ts'
import { fieldPicker } from '../../../src/records/read/pick-fields.ts'

const pick = (value: unknown, fields: string): unknown => (fieldPicker(fields) ?? ((all: unknown) => all))(value)
const RECORD = {
  id: 'a',
  meta: { a: { b: 1, c: 2 }, list: [{ k: 1, m: 2 }, { k: 3 }], numbers: [1, 2] },
  title: '<p>Hello <b>world</b></p>',
}

describe('fields', () => {
  test.each([
    ['', RECORD],
    ['*', RECORD],
    [' , ', RECORD],
    ['nope', {}],
    ['id, ', { id: 'a' }],
    ['meta.a.b', { meta: { a: { b: 1 } } }],
    ['meta.list.k', { meta: { list: [{ k: 1 }, { k: 3 }] } }],
    ['meta.numbers.x', { meta: { numbers: [1, 2] } }],
    ['title.x', { title: RECORD.title }],
    ['meta,meta.a.b', { meta: RECORD.meta }],
    ['*,title:excerpt(5,true)', { ...RECORD, title: 'Hello...' }],
    ['id:excerpt(1)', { id: 'a' }],
    ['meta:excerpt(1)', { meta: RECORD.meta }],
  ])('%j', (fields, expected) => {
    expect(pick(RECORD, fields)).toEqual(expected)
  })

  test.each(['title:excerpt', 'title:excerpt()', 'title:excerpt(0)', 'title:excerpt(1,true,2)', 'title:short(1)'])(
    '%s is refused',
    (fields) => {
      expect(() => pick(RECORD, fields)).toThrow(/^(Unknown modifier|":excerpt" takes)/)
    },
  )
})

describe('an excerpt', () => {
  const list = '<p>Hello <b>world</b></p><script>x < y</script><ul><li>one</li><li>two</li></ul>'
  test.each([
    [list, 11, true, 'Hello world...'],
    [list, 200, true, 'Hello world one two'],
    [list, 11, false, 'Hello world'],
    ['a&nbsp;&eacute;&#x41;&#66; &lt;b&gt; &nope; 1 < 2', 99, false, 'a\u00a0éAB <b> &nope; 1 < 2'],
    ['one<br>two<!-- <p>no</p> --> three', 99, false, 'onetwo three'],
    ['<button>no <b>no</b></button><img alt="<p>">yes', 99, false, 'yes'],
    ['<style>p > a { }</style> \n\t text  of\nlines ', 99, false, 'text of lines'],
    ['</p>no begin</b> and <p title=">">no end', 99, false, 'no begin and no end'],
    ['&alpha;&Sum;&notin; &amp &AMP;', 99, false, 'α∑∉ & &'],
    ['<title>x</title> <noscript><p>x</p></noscript><p>y</p>', 99, false, 'y'],
    ['<meta><link><style>x</style><base><title>x</title>y', 99, false, 'y'],
    ['y <title>x</title>', 99, false, 'y x'],
    ['<p>y</p><noscript>x</noscript>', 99, false, 'y x'],
    ['😀😀😀', 2, true, '😀😀...'],
    ['', 5, true, ''],
  ])('of %j to %d', (html, max, ellipsis, expected) => {
    expect(excerpt(html, max, ellipsis)).toBe(expected)
  })

  test('of a long text that is mostly marks ends', () => {
    const marks = ['<p>', '</b>', '<', '<a "', '<a b=', '<a b="', '&', '<!--', '<script>', '<p><b></p>', ' ', '< ']
    for (const mark of marks) expect(excerpt(`<div>${mark.repeat(200_000)}`, 5, true)).toBeTypeOf('string')
  })
})
