/** Goal: a component waits for the first rows in `async setup`, and its first render has them. */
import { createRenderer, defineComponent, h, Suspense } from 'vue'
import { open } from 'pannier'
import { memory } from 'pannier/memory'
import { expect, test } from 'vitest'
import { eventually } from '../../db/testing/suite.ts'
import { useLiveQuery } from '../src/index.ts'

const element = (): object => ({})
const { createApp } = createRenderer<object, object>({
  createElement: element,
  createText: element,
  createComment: element,
  setText: () => {},
  setElementText: () => {},
  patchProp: () => {},
  insert: () => {},
  remove: () => {},
  parentNode: element,
  nextSibling: () => null,
})

test('below a Suspense the first render has the rows, and those that come are shown', async () => {
  const db = await open('x', { storage: memory() })
  const people = db.collection<{ readonly name: string }>('people')
  await people.insert({ _id: 'ann', name: 'Ann' })
  const live = people.find().sort('name').live()
  const renders: string[] = []
  const People = defineComponent({
    async setup() {
      await live.ready
      const { rows, status } = useLiveQuery(live)
      return () => {
        renders.push(`${status.value} ${rows.value.map(({ name }) => name).join()}`)
        return h('p')
      }
    },
  })
  const app = createApp({ render: () => h(Suspense, null, { default: () => h(People), fallback: () => h('i') }) })
  app.mount({})
  await eventually(() => renders.length > 0)
  expect(renders).toEqual(['live Ann'])
  await people.insert({ _id: 'bob', name: 'Bob' })
  await eventually(() => renders.at(-1) === 'live Ann,Bob')
  app.unmount()
  expect(live.status).toBe('live')
  live.close()
  await db.close()
})
