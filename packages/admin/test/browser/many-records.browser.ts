/** Goal: the last of a million records is reached, although no browser lets an element be as high as all of them. */
import type { BrowserSuiteContext } from '../../../../tools/browser/browser-suite.ts'
import type { Page } from '../../../../tools/browser/browser.ts'
import { assertEqual } from '../../../db/testing/check.ts'
import { ITSELF } from '../server.ts'
import { focused, goTo, isSound, sees, seesNo, waitFor, withServerPage } from './steps.ts'

const GRID = '[role=grid]'

export function browserSuite({ test, browser }: BrowserSuiteContext): void {
  // The driver of WebKit has the hash of the address for itself, where the page has its views.
  if (browser.engine === 'webkit') return

  test('a million records are scrolled to both ends, by the bar, by steps and by keys', async () => {
    await withServerPage(
      browser,
      '/start',
      async (page) => {
        await page.evaluate(answerMillion)
        await goTo(page, '/records/many')
        await sees(page, '1,000,000 records')
        await sees(page, 'Row 1.', GRID)
        await scrollTo(page, 'end')
        await sees(page, 'Row 1000000.', GRID)
        await isLastRowSeen(page)
        await isSound(page)
        await scrollBy(page, -380)
        await isNoRowMissing(page)
        await scrollBy(page, 380)
        await isLastRowSeen(page)
        await scrollTo(page, 'middle')
        await waitFor(page, 'a row of the middle', '', () => /Row (?:499|500)\d{3}\./.test(document.body.innerText))
        await isNoRowMissing(page)
        await scrollTo(page, 'start')
        await sees(page, 'Row 1.', GRID)
        await key(page, 'End')
        await waitFor(
          page,
          'the focus in the last row',
          '',
          () => document.activeElement?.getAttribute('data-cell')?.startsWith('999999,') === true,
        )
        await isLastRowSeen(page)
        await key(page, 'ArrowUp', false)
        await waitFor(
          page,
          'the focus in the row above',
          '',
          () => document.activeElement?.getAttribute('data-cell')?.startsWith('999998,') === true,
        )
        // The row with the focus waits for Tab, wherever one has scrolled.
        await scrollTo(page, 'start')
        await seesNo(page, 'Row 1000000.', GRID)
        assertEqual(await focused(page), '000000000999999')
        await key(page, 'Home')
        await sees(page, 'Row 1.', GRID)
      },
      async ({ server: { backend } }) => {
        const fields = [{ name: 'title', type: 'text', presentable: true }]
        await backend.definitions.create(ITSELF.principal, { name: 'many', type: 'base', fields })
      },
    )
  })
}

/** As if the server had a million. */
function answerMillion(): void {
  const { fetch: ask } = globalThis
  globalThis.fetch = async (input, options) => {
    const { pathname, searchParams } = new URL(input as string)
    if (!pathname.endsWith('/many/records')) return ask(input, options)
    const [page, perPage] = [Number(searchParams.get('page')), Number(searchParams.get('perPage'))]
    const items = Array.from({ length: perPage }, (_, at) => {
      const number = (page - 1) * perPage + at + 1
      return { id: String(number).padStart(15, '0'), title: `Row ${number}.`, collectionName: 'many' }
    })
    return Response.json({ page, perPage, totalItems: 1_000_000, totalPages: 1_000_000 / perPage, items })
  }
}

async function scrollTo(page: Page, place: 'start' | 'middle' | 'end'): Promise<void> {
  await page.evaluate((wanted) => {
    const grid = document.querySelector('[role=grid]')!
    const last = grid.scrollHeight - grid.clientHeight
    grid.scrollTop = wanted === 'start' ? 0 : wanted === 'end' ? last : last / 2
  }, place)
}

async function scrollBy(page: Page, step: number): Promise<void> {
  await page.evaluate(async (pixels) => {
    document.querySelector('[role=grid]')!.scrollTop += pixels
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
  }, step)
}

/** The table is filled from its head to its end with rows, each below the one before. */
async function isNoRowMissing(page: Page): Promise<void> {
  await waitFor(page, 'rows from top to bottom', '', () => {
    const box = document.querySelector('[role=grid]')!.getBoundingClientRect()
    const rows = [...document.querySelectorAll('.grid-body [role=row]')].map((row) => row.getBoundingClientRect())
    const seen = rows.filter(({ top, bottom }) => bottom > box.top + 40 && top < box.top + box.height)
    const isFilled = seen[0]!.top <= box.top + 41 && seen.at(-1)!.bottom >= box.bottom - 20
    return isFilled && seen.every(({ top }, at) => at === 0 || Math.abs(top - seen[at - 1]!.bottom) < 2)
  })
}

/** It ends where the table ends. */
async function isLastRowSeen(page: Page): Promise<void> {
  await waitFor(page, 'the last row at the end', '', () => {
    const grid = document.querySelector('[role=grid]')!
    const row = grid.querySelector('[aria-rowindex="1000001"]')?.getBoundingClientRect()
    const end = grid.getBoundingClientRect().top + grid.clientHeight
    return row !== undefined && Math.abs(row.bottom - end) < 3
  })
}

async function key(page: Page, name: string, ctrlKey = true): Promise<void> {
  await page.evaluate(
    (pressed) => {
      const cell = document.querySelector<HTMLElement>('.grid [tabindex="0"]')!
      cell.focus({ preventScroll: true })
      cell.dispatchEvent(new KeyboardEvent('keydown', { ...pressed, bubbles: true, cancelable: true }))
    },
    { key: name, ctrlKey },
  )
}
