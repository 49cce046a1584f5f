/** Goal: components of Vue render on a server, where nothing is live: what a server has read is shown until the page has its own. */
import { renderToString } from '@vue/server-renderer'
import { open } from 'pannier'
import { memory } from 'pannier/memory'
import { expect, test } from 'vitest'
import { createSSRApp, h } from 'vue'
import { useCount, useLiveQuery } from '../src/index.ts'

test('on a server no query starts, and initial rows are rendered', async () => {
  const db = await open('x', { storage: memory() })
  const query = db.collection<{ readonly name: string }>('people').find()
  let started = 0
  const live = query.live.bind(query)
  const counted = Object.assign(query, { live: () => (started++, live()) })
  const app = createSSRApp({
    setup() {
      const { rows, status, isPrevious } = useLiveQuery(counted, {
        initial: [{ _id: 'ann', _rev: '1-a', name: 'Ann' }],
      })
      const { count } = useCount(undefined)
      return () => h('p', [rows.value[0]?.name, status.value, isPrevious.value, count.value].map(String).join(' '))
    },
  })
  expect(await renderToString(app)).toBe('<p>Ann loading true undefined</p>')
  expect(started).toBe(0)
  await db.close()
})
