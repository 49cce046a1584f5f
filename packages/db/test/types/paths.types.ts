/** Goal: paths, selectors, sorts, indexes and projections follow from the type of the documents. Checked by `npm run types`. */
import type { Collection } from '../../src/database/collection/collection.ts'
import type { Database } from '../../src/database/database.ts'
import { where } from '../../src/query/builder.ts'
import type { FieldPath, FieldValue, Projected, Selector } from '../../src/query/field-types.ts'
import { holds } from './equal.ts'
import type { Same } from './equal.ts'

interface Address {
  readonly city: string
  readonly zip?: number
  readonly geo: { readonly lat: number; readonly lon: number }
}

interface Person {
  readonly name: string
  readonly age?: number
  readonly role: 'admin' | 'user'
  readonly active: boolean
  readonly address: Address
  readonly second: Address | null
  readonly tags: readonly string[]
  readonly items: readonly { readonly price: number }[]
  readonly extra: unknown
  readonly settings: Record<string, number>
}

export function paths(): void {
  type Path = Exclude<FieldPath<Person>, `${string}\\.${string}`>
  const right: readonly Path[] = [
    'name',
    'age',
    'address',
    'address.city',
    'address.geo.lat',
    'second.city',
    'tags',
    'tags.0',
    'items.3.price',
    'extra.what.ever',
    'settings.any',
  ]
  // @ts-expect-error there is no such field
  const wrong: Path = 'nam'
  // @ts-expect-error there is no such field inside
  const inside: Path = 'address.street'
  // @ts-expect-error elements are named by numbers
  const element: Path = 'items.price'
  void [right, wrong, inside, element]
  holds<Same<FieldPath<Record<string, unknown>>, string>>()
  holds<Same<FieldValue<Person, 'address.geo.lat'>, number>>()
  holds<Same<FieldValue<Person, 'age'>, number | undefined>>()
  holds<Same<FieldValue<Person, 'second.city'>, string | undefined>>()
  holds<Same<FieldValue<Person, 'tags.0'>, string | undefined>>()
  holds<Same<FieldValue<Person, 'items.0.price'>, number | undefined>>()
  holds<Same<FieldValue<Person, 'extra.a'>, unknown>>()
  holds<Same<FieldValue<{ readonly a: 1 } | { readonly b: 2 }, 'a'>, 1 | undefined>>()
}

export function selectors(people: Collection<Person>, threshold: number | null): void {
  people.find()
  people.find({})
  people.find({ name: 'Ann', age: { $gte: 18, $lt: 65 }, role: { $in: ['admin', 'user'] } })
  people.find({ _id: { $gt: null }, _rev: '1-a', active: true })
  people.find({ 'address.city': { $beginsWith: 'O' }, 'address.geo.lat': { $gt: 60 } })
  people.find({ address: { city: 'Oslo', geo: { lat: { $gt: 60 } } } })
  people.find({ second: null, 'second.city': 'Oslo' })
  people.find({ second: { city: 'Oslo', $exists: true } })
  people.find({ tags: 'vip', 'tags.0': { $regex: '^v', $options: 'i' } })
  people.find({ tags: { $in: ['a', 'b'] } })
  people.find({ tags: ['a', 'b'] })
  people.find({ 'items.0.price': { $gt: 3 } })
  people.find({ extra: { any: { thing: 1 } }, 'extra.a.b': 1, 'settings.volume': 3 })
  people.find({ tags: { $all: ['a'], $size: 3, $elemMatch: { $gt: 'a', $regex: 'b' } }, name: { $type: 'string' } })
  people.find({
    items: { $elemMatch: { price: { $gt: 3, $mod: [2, 0] } } },
    settings: { $keyMapMatch: { $eq: 'volume' } },
  })
  people.find({ extra: { $allMatch: { a: 1 } } })
  people.find(where('age').gte(18).and(where('tags').has('vip')))
  people.find(where(people, 'age').between(18, 30).and(where(people, 'tags').has('vip')))
  people.find(
    where(people, 'address.city')
      .beginsWith('O')
      .or(where(people, '_id').in(['ann'])),
  )
  // @ts-expect-error there is no such field
  where(people, 'agee')
  // @ts-expect-error an age is a number
  where(people, 'age').eq('18')
  // @ts-expect-error an age is no text
  where(people, 'age').beginsWith('1')
  // @ts-expect-error elements are strings
  where(people, 'tags').has(1)
  // @ts-expect-error elements are strings
  people.find({ tags: { $all: [1] } })
  // @ts-expect-error a name is no number
  people.find({ name: { $mod: [2, 0] } })
  // @ts-expect-error there is no such type
  people.find({ name: { $type: 'text' } })
  // @ts-expect-error elements have no such field
  people.find({ items: { $elemMatch: { prize: 3 } } })
  people.find({ role: { $gt: 'b' }, age: { $gt: threshold } })
  people.find({
    age: { $exists: false },
    $or: [{ name: 'a' }, { $not: { 'address.zip': 1 } }],
    $nor: [{ active: true }],
  })
  people.find({ age: { $not: { $gt: 3 } }, name: { $or: [{ $eq: 'a' }, { $beginsWith: 'b' }] } })
  people.find({ 'with\\.dot': 1 })
  // @ts-expect-error there is no such field
  people.find({ nam: 'Ann' })
  // @ts-expect-error a string is never a number
  people.find({ name: 5 })
  // @ts-expect-error nor null
  people.find({ name: null })
  // @ts-expect-error there is no such role
  people.find({ role: 'owner' })
  // @ts-expect-error nor here
  people.find({ role: { $in: ['owner'] } })
  // @ts-expect-error an operand has the type of the field
  people.find({ age: { $gt: '18' } })
  // @ts-expect-error text operators are for text
  people.find({ age: { $beginsWith: '1' } })
  // @ts-expect-error there is no such operator
  people.find({ age: { $near: 18 } })
  // @ts-expect-error there is no such field inside
  people.find({ 'address.street': 'x' })
  // @ts-expect-error nor in this way of writing it
  people.find({ address: { street: 'x' } })
  // @ts-expect-error its type is another
  people.find({ address: { geo: { lat: 'north' } } })
  // @ts-expect-error an element is text
  people.find({ tags: 5 })
  // @ts-expect-error it takes true or false
  people.find({ age: { $exists: 1 } })
  // @ts-expect-error also inside
  people.find({ $or: [{ nam: 'a' }] })
}

export function ordersAndIndexes(people: Collection<Person>, db: Database): void {
  people.find().sort('name', '-age', 'address.city', '-_id')
  // @ts-expect-error there is no such field
  people.find().sort('nam')
  // @ts-expect-error nor descending
  people.find().sort('-address.street')
  // What is sorted by need not be among the fields.
  people.find().fields('name').sort('age')
  db.collection<Person>('people', { indexes: ['age', ['address.city', '-age'], { on: 'tags', multi: true }, '_id'] })
  // @ts-expect-error there is no such field
  db.collection<Person>('people', { indexes: ['agee'] })
  // @ts-expect-error nor in a compound index
  db.collection<Person>('people', { indexes: [['age', '-citty']] })
}

export async function projections(people: Collection<Person>): Promise<void> {
  type Row<Path extends FieldPath<Person>> = Projected<Person, Path>
  holds<Same<Row<'name' | 'age'>, { readonly name: string; readonly age?: number }>>()
  holds<Same<Row<'name' | 'address.city'>, { readonly name: string; readonly address: { readonly city: string } }>>()
  holds<Same<Row<'address.zip'>, { readonly address?: { readonly zip?: number } }>>()
  holds<Same<Row<'address.geo.lat'>, { readonly address: { readonly geo: { readonly lat: number } } }>>()
  holds<Same<Row<'address' | 'address.city'>, { readonly address: Address }>>()
  const [row] = await people.find().fields('name', 'address.city', 'second.city').skip(1).limit(3).toArray()
  const name: string = row!.name
  const city: string = row!.address.city
  // The object is there only where the field is.
  const second: string | undefined = row!.second?.city
  // @ts-expect-error this may be missing
  void row!.second.city
  // @ts-expect-error this was not asked for
  void row!.age
  // @ts-expect-error nor this
  void row!._id
  const [whole] = await people.find().toArray()
  const id: string = whole!._id
  // @ts-expect-error there is no such field
  people.find().fields('nam')
  void [name, city, second, id]
}

export async function loose(docs: Collection<Record<string, unknown>>): Promise<void> {
  docs.find({ any: { thing: { $gt: 3 } }, 'a.b': 1, $or: [{ x: 1 }] }).sort('a', '-b.c')
  const [row] = await docs.find().fields('a', 'b.c').toArray()
  const value: unknown = row?.['a']
  await docs.insert({ any: 'thing' })
  const paths: string[] = []
  docs
    .find()
    .fields(...paths)
    .sort(...paths)
  void value
}

/** Some keys are known, others are not. */
export function halfLoose(docs: Collection<{ readonly name: string; readonly [field: string]: unknown }>): void {
  docs.find({ name: 'a', other: 3, 'a.b': 4 })
  // @ts-expect-error what is known is checked
  docs.find({ name: 3 })
  void docs.insert({ name: 'a', other: 3 })
  // @ts-expect-error what is known has to be there
  void docs.insert({ other: 3 })
}

/** Types that contain themselves, and unions, end. */
interface Node {
  readonly value: number
  readonly left?: Node
  readonly right?: Node
  readonly children: readonly Node[]
}

type Shape = { readonly kind: 'circle'; readonly radius: number } | { readonly kind: 'square'; readonly side: number }

export async function unions(nodes: Collection<Node>, shapes: Collection<Shape>): Promise<void> {
  nodes.find({ 'left.left.value': 3, 'children.0.value': { $gt: 1 }, 'left.left.left.left.left.value': 'unchecked' })
  // @ts-expect-error there is no such field
  nodes.find({ 'left.vallue': 3 })
  shapes.find({ kind: 'circle', radius: { $gt: 3 } }).sort('-side')
  // @ts-expect-error there is no such kind
  shapes.find({ kind: 'line' })
  await shapes.insert([
    { kind: 'circle', radius: 1 },
    { _id: 'a', kind: 'square', side: 2 },
  ])
  // @ts-expect-error a square has no radius
  await shapes.insert({ kind: 'square', radius: 2 })
  const shape = await shapes.get('a')
  if (shape?.kind === 'circle') holds<Same<typeof shape.radius, number>>()
  const [row] = await shapes.find().fields('kind', 'radius').toArray()
  if (row?.kind === 'circle') holds<Same<typeof row.radius, number>>()
}

/** Code that does not know the type. */
export async function generic<T extends object>(collection: Collection<T>, selector: Selector<T>): Promise<number> {
  const ids = (await collection.find().toArray()).map(({ _id }) => _id)
  void selector
  return ids.length
}

type UserId = string & { readonly __brand: 'UserId' }
type Cents = number & { readonly __brand: 'Cents' }

interface Order {
  user: UserId
  team: UserId[]
  price: Cents
  maybe?: UserId | null
  buyer: { id: UserId }
}

export async function brandedTypes(db: Database, user: UserId, price: Cents): Promise<void> {
  const orders = db.collection<Order>('orders', { indexes: ['user', 'price', 'buyer.id'] })
  await orders.find({ user }).toArray()
  await orders.find({ user: { $eq: user } }).toArray()
  await orders.find({ user: { $in: [user], $gt: user } }).toArray()
  await orders.find({ user: { $beginsWith: 'a' } }).toArray()
  await orders.find({ team: user }).toArray()
  await orders.find({ team: { $all: [user] } }).toArray()
  await orders.find({ team: { $elemMatch: { $eq: user } } }).toArray()
  await orders.find({ price, maybe: user, 'buyer.id': user }).toArray()
  await orders.find({ price: { $gte: 5, $lt: price } }).toArray()
  await orders.find({ maybe: null, buyer: { id: user } }).toArray()
  await orders.find().sort('-price').distinct('user')
  await orders.find().fields('user', 'buyer.id').toArray()
  // @ts-expect-error A plain string is no user.
  await orders.find({ user: 'ann' }).toArray()
  // @ts-expect-error A text has no fields.
  await orders.find({ 'user.length': 1 }).toArray()
}
