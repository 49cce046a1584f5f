/** The page that is measured: opens the database, shows the first rows, and tells when it came how far. */
import { app as measured } from 'measured-app'
import type { App } from '../apps/app.ts'
import { DATABASE, post, rowText } from './protocol.ts'
import type { Visit } from './protocol.ts'

const ran = performance.now()
const app = measured as App

try {
  await post(await show())
} catch (error) {
  await post({ error: String(error) })
}

async function show(): Promise<Visit> {
  await app.open(DATABASE)
  const opened = performance.now()
  const people = await app.firstRows()
  const read = performance.now()
  const list = document.querySelector('#rows')!
  list.append(
    ...people.map((person) => {
      const row = document.createElement('li')
      row.textContent = rowText(person)
      return row
    }),
  )
  // Makes the browser lay them out now.
  list.getBoundingClientRect()
  const shown = performance.now()
  await nextFrame()
  await nextFrame()
  const painted = performance.now()
  // Bundlers make one or several first scripts: no line runs before all are there.
  const ends = performance.getEntriesByType('resource').map((entry) => entry.startTime + entry.duration)
  const downloaded = Math.max(...ends.filter((end) => end <= ran))
  const rows = Array.from(list.children, (row) => row.textContent ?? '')
  return { agent: navigator.userAgent, rows, marks: { downloaded, ran, opened, read, shown, painted } }
}

function nextFrame(): Promise<unknown> {
  return new Promise((resolve) => requestAnimationFrame(resolve))
}
