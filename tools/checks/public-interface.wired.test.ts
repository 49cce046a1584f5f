/** Goal: the snapshot of the public interface loses nothing that the compiler wrote. */
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { describeInterface } from './public-interface.ts'
import { statementsOf, undocumentedMembers } from './statements.ts'

const folder = mkdtempSync(join(tmpdir(), 'pannier-interface-'))

afterAll(() => rmSync(folder, { recursive: true, force: true }))

let files = 0

function describe(declarations: string): string {
  const path = join(folder, `${files++}.d.ts`)
  writeFileSync(path, declarations)
  return describeInterface(path)
}

const UNION = `export type Event = 
/** A ; in a comment, and a brace } too. */
(Of<'a;'> & {
    readonly a: string;
})
 | Of<'b'>;`

test('a union whose second line is not indented is kept whole', () => {
  const text = describe(`${UNION}\ninterface Of<T> {\n    type: T;\n}\nexport declare const x: 1;\nexport {};\n`)
  expect(text).toBe(`${UNION}\n\nexport const x: 1;\n\ninterface Of<T> {\n    type: T;\n}\n`)
})

test('docstrings are kept, and members that are private to a class are not', () => {
  const text = describe(`/** A box. */
export declare class Box<T extends { a: 1 }> {
    #private;
    /** Nobody's business. */
    private secret;
    /** What is in it. */
    get(): T;
}
`)
  expect(text).toBe(`/** A box. */
export class Box<T extends { a: 1 }> {
    /** What is in it. */
    get(): T;
}
`)
})

test('members without a docstring are listed, overloads once', () => {
  const [statement] = statementsOf(`export interface Bare<T> extends Array<() => T> {
    constructor(a: number): void;
    /** Told. */
    told(a: { b: 1 }): void;
    told(a: string): void;
    readonly [Symbol.iterator]: () => T;
    get bare(): string;
    set bare(to: string);
}
`)
  expect(undocumentedMembers(statement!)).toEqual(['[Symbol.iterator]', 'bare'])
})

test('an empty declaration, and one that does not end, is an error', () => {
  expect(() => describe('export type Empty = ;\n')).toThrow('says nothing')
  expect(() => describe('export type Empty = \n')).toThrow('does not end')
  expect(() => describe('export enum Other {\n}\n')).toThrow('says nothing')
})

test('a limit ends with Max, behind its unit; others gave the names of their settings', () => {
  const names = globSync('packages/*/api/*.d.ts').flatMap((path) => readFileSync(path, 'utf8').match(LIMIT) ?? [])
  expect(new Set(names)).toEqual(new Set(THEIRS))
})

const LIMIT = /\b(?:\w*[tT]imeout(?:Ms)?|max[A-Z]\w*)(?=\??: number)/g

/** PocketBase's settings and options of fields, and JSONStore's call. */
const THEIRS = ['maxBodySize', 'maxDays', 'maxRequests', 'maxSelect', 'maxSize', 'timeout']
