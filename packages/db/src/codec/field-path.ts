/** Paths to fields. `readField` (decode-document.ts) follows them in encoded documents, `getField` in decoded ones. */
import { ArgumentError, badArgument, calling } from '../base/options.ts'
import { isArrayLike } from './collation.ts'
import type { Shape } from './shape.ts'

/** A compiled path. Keep it: it remembers where the field is in the shape that it met last. */
export class FieldPath {
  /** Names from the outside in. */
  readonly names: readonly string[]
  private readonly shapes: (Shape | undefined)[]
  private readonly positions: number[]

  constructor(names: readonly string[]) {
    this.names = names
    this.shapes = names.map(() => undefined)
    this.positions = names.map(() => 0)
  }

  /** The position of the field on that level in objects of the shape, -1 if they have none. */
  position(level: number, shape: Shape): number {
    if (this.shapes[level] !== shape) {
      this.shapes[level] = shape
      this.positions[level] = shape.indexOf(this.names[level]!)
    }
    return this.positions[level]!
  }
}

export function compileFieldPath(path: string): FieldPath {
  return new FieldPath(fieldNames(path))
}

/** A path as a caller gives it: a string of names that are not empty; else a TypeError. */
export function checkFieldPath(path: unknown): string {
  if (typeof path !== 'string') throw new ArgumentError(`a path must be a string${hintFor(path)}`, path)
  if (fieldNames(path).includes('')) throw new ArgumentError('the names in a path must not be empty', path)
  return path
}

/** At least one path, as an argument of the function `call`. */
export function checkFieldPaths(paths: readonly unknown[], call: string): string[] {
  if (paths.length === 0) throw badArgument(call, 'a path must be given', undefined)
  return calling(call, () => paths.map(checkFieldPath))
}

/** Other databases take arrays and objects here: `sort({ age: -1 })` is `sort('-age')`. */
function hintFor(path: unknown): string {
  if (typeof path !== 'object' || path === null) return ''
  return ` (write ${(Array.isArray(path) ? path : [path]).map(written).join(', ')})`
}

function written(given: unknown): string {
  if (typeof given !== 'object' || given === null) return `'${String(given)}'`
  const fields = Object.entries(given).map(([name, order]) => `'${order === -1 || order === 'desc' ? '-' : ''}${name}'`)
  return fields.join(', ')
}

/** '-age' -> { path: 'age', descending: true } */
export function parseOrderedField(text: unknown): { readonly path: string; readonly descending: boolean } {
  const descending = typeof text === 'string' && text.startsWith('-')
  return { path: checkFieldPath(descending ? text.slice(1) : text), descending }
}

/** Dots go one level down, also into arrays ('tags.0'). A backslash before a dot or a backslash makes it part of the name. */
export function fieldNames(path: string): string[] {
  const names: string[] = []
  let name = ''
  for (let i = 0; i < path.length; i++) {
    let char = path[i]!
    if (char === '.') {
      names.push(name)
      name = ''
      continue
    }
    if (char === '\\' && (path[i + 1] === '.' || path[i + 1] === '\\')) char = path[++i]!
    name += char
  }
  names.push(name)
  return names
}

/** The field of a decoded document; undefined if it is missing. */
export function getField(document: unknown, path: FieldPath): unknown {
  let value = document
  for (const name of path.names) {
    if (typeof value !== 'object' || value === null) return undefined
    const index = isArrayLike(value) ? elementIndex(name) : name
    if (index === -1 || !Object.hasOwn(value, index)) return undefined
    value = (value as Record<string | number, unknown>)[index]
  }
  return value
}

/** Sets a field, also one that every object inherits (`__proto__`), where assigning may do otherwise. */
export function defineField(target: object, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, writable: true, enumerable: true, configurable: true })
}

/** The element that a name in a path stands for; -1 if it stands for none. */
export function elementIndex(name: string): number {
  return /^(0|[1-9]\d*)$/.test(name) ? Number(name) : -1
}

/** The paths without those that lie inside others of them. */
export function outermostPaths(paths: readonly string[]): string[] {
  return paths.filter((path, at) => paths.indexOf(path) === at && !paths.some((outer) => path.startsWith(`${outer}.`)))
}
