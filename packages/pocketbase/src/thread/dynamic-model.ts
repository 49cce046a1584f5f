/** `DynamicModel`: a shape with types, for rows and bodies. */
import { Collection } from './collection.ts'

type Kind = 'text' | 'number' | 'boolean' | 'list' | 'object'

/** A value that may be null: of `nullString()` and the like. */
export class Nullable {
  readonly kind: Kind

  constructor(kind: Kind) {
    this.kind = kind
  }
}

const shapes = new WeakMap<object, Readonly<Record<string, unknown>>>()

export class DynamicModel {
  [name: string]: unknown

  constructor(shape: Readonly<Record<string, unknown>>) {
    shapes.set(this, shape)
    for (const [name, value] of Object.entries(shape))
      this[name] = value instanceof Nullable ? null : structuredClone(value)
  }
}

/** An empty model of the same shape. */
function another(model: DynamicModel): DynamicModel {
  return new DynamicModel(shapes.get(model)!)
}

/** The model of each list of `arrayOf(model)`. */
const models = new WeakMap<object, DynamicModel>()

export function arrayOf(model: DynamicModel): unknown[] {
  const made: unknown[] = []
  models.set(made, model)
  return made
}

/** Writes rows into a list of `arrayOf`, or any list. */
export function fillList(target: unknown[], rows: readonly Readonly<Record<string, unknown>>[]): void {
  const model = models.get(target)
  const made = rows.map((row) => (model === undefined ? { ...row } : fill(another(model), row)))
  target.splice(0, target.length, ...made)
}

/** Writes values into an object: into a model by the types of its shape. */
export function fill<T extends object>(target: T, values: Readonly<Record<string, unknown>>): T {
  const shape = shapes.get(target)
  if (target instanceof Collection) target.merge(values as Record<string, unknown>)
  else if (shape === undefined) Object.assign(target, values)
  else
    for (const [name, like] of Object.entries(shape))
      if (Object.hasOwn(values, name)) Object.assign(target, { [name]: cast(values[name], like) })
  return target
}

function cast(value: unknown, like: unknown): unknown {
  const kind = like instanceof Nullable ? like.kind : kindOf(like)
  if (value === null || value === undefined) return like instanceof Nullable ? null : structuredClone(like)
  if (kind === 'number') return Number(value)
  if (kind === 'boolean') return value === true || value === 1 || value === '1' || value === 'true'
  if (kind === 'text') return typeof value === 'object' ? JSON.stringify(value) : String(value as string)
  return typeof value === 'string' ? (JSON.parse(value) as unknown) : value
}

function kindOf(like: unknown): Kind {
  if (typeof like === 'number') return 'number'
  if (typeof like === 'boolean') return 'boolean'
  if (Array.isArray(like)) return 'list'
  return typeof like === 'object' ? 'object' : 'text'
}
