/** Goal: a collection of several types takes indexes on the fields of each, and its documents are narrowed. */
import type { Database } from '../../src/database/database.ts'

type Shape = { kind: 'circle'; radius: number } | { kind: 'square'; side: number; at: { x: number } }

export async function unions(db: Database): Promise<void> {
  const shapes = db.collection<Shape>('shapes', { indexes: ['radius', ['kind', '-side'], 'at.x'] })
  await shapes
    .find({ radius: { $gt: 1 } })
    .sort('radius')
    .toArray()
  const shape = await shapes.get('x')
  if (shape?.kind === 'circle') shape.radius.toFixed()
  // @ts-expect-error There is no such field.
  db.collection<Shape>('shapes', { indexes: ['colour'] })
}
