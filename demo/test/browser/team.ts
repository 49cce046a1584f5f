/** The page of the team in two windows, for its tests: what its people do and see. */
import { open, type Database } from 'pannier'
import { memory } from 'pannier/memory'
import type { Browser, Page } from '../../../tools/browser/with-browser.ts'
import { freePort } from '../../../tools/processes.ts'
import { readAllCities } from '../../node/all-cities.ts'
import { loadCities } from '../../node/load.ts'
import { serve } from '../../node/server.ts'
import { loadTasks } from '../../tasks/load.ts'
import { once, onePage, sees, WAIT_MS_MAX } from './steps.ts'

const TASKS = 2_000
/** Ann and Ben are members of it. */
export const PROJECT = 'Atlas Website'
const fewCities = once(() => readAllCities(10))

/** Opens a window for each of the two, with the same project. */
export async function withTeam(
  browser: Browser,
  use: (ann: Page, ben: Page, db: Database) => Promise<void>,
): Promise<void> {
  await using db = await open('team', { storage: memory() })
  await loadCities(db, fewCities())
  const prepare: Parameters<typeof serve>[0]['prepare'] = (server) => loadTasks(server, { count: TASKS })
  const server = await serve({ database: db, assets: await onePage(), port: await freePort(), prepare })
  try {
    const pages: Page[] = []
    for (const name of ['ann', 'ben']) {
      const page = await browser.open(`${server.pageUrl}team/?as=${name}`)
      await sees(page, '#status', 'Everything is saved.')
      await clickText(page, '#projects button', PROJECT)
      await sees(page, '#project-title', PROJECT)
      pages.push(page)
    }
    await use(pages[0]!, pages[1]!, db)
    for (const page of pages) await page.close()
  } finally {
    await server.close()
  }
}

/** The record as the server has it. */
export async function stored(db: Database, collection: string, id: string): Promise<Readonly<Record<string, unknown>>> {
  return (await db.collection<Record<string, unknown>>(`$records_${collection}`).get(id))!
}

export async function firstTask(page: Page): Promise<string> {
  let found: string | undefined
  await until(async () => {
    found = await page.evaluate(() => document.querySelector<HTMLElement>('#tasks li')?.dataset['task'])
    return found !== undefined
  }, 'the project has no task')
  return found!
}

export async function seesBen(page: Page): Promise<void> {
  await until(
    () =>
      page.evaluate(() =>
        [...document.querySelectorAll('#members li')].some(({ textContent }) => textContent?.startsWith('Ben')),
      ),
    'Ben is not among the members',
  )
}

export async function rename(page: Page, id: string, title: string): Promise<void> {
  const set = (): Promise<boolean> =>
    page.evaluate(
      ({ id, title }) => {
        const field = document.querySelector<HTMLInputElement>(`[data-task="${id}"] .title`)
        if (field === null) return false
        field.value = title
        field.dispatchEvent(new Event('change'))
        return true
      },
      { id, title },
    )
  await until(set, 'the window does not show the task')
}

export async function seesTitle(page: Page, id: string, title: string): Promise<void> {
  const read = (): Promise<string | undefined> =>
    page.evaluate((id) => document.querySelector<HTMLInputElement>(`[data-task="${id}"] .title`)?.value, id)
  await until(async () => (await read()) === title, `the task is not called '${title}'`)
}

export async function clickText(page: Page, selector: string, text: string): Promise<void> {
  const press = (): Promise<boolean> =>
    page.evaluate(
      ({ selector, text }) => {
        const found = [...document.querySelectorAll<HTMLElement>(selector)].find((one) => one.textContent === text)
        found?.click()
        return found !== undefined
      },
      { selector, text },
    )
  await until(press, `there is no ${selector} '${text}'`)
}

export async function until(isTrue: () => Promise<boolean>, otherwise: string): Promise<void> {
  const deadline = performance.now() + WAIT_MS_MAX
  while (!(await isTrue())) {
    if (performance.now() > deadline) throw new Error(otherwise)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
