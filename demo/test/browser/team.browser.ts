/** The page of the team: two people in two windows, offline, with rules that change meanwhile. */
import { open, type Database } from 'pannier'
import { memory } from 'pannier/memory'
import type { Page } from '../../../tools/browser/with-browser.ts'
import type { BrowserSuiteContext } from '../../../tools/browser/browser-suite.ts'
import { freePort } from '../../../tools/processes.ts'
import { readAllCities } from '../../node/all-cities.ts'
import { loadCities } from '../../node/load.ts'
import { serve } from '../../node/server.ts'
import { IDS } from '../../tasks/definitions.ts'
import { loadTasks } from '../../tasks/load.ts'
import { personId } from '../../tasks/visitors.ts'
import { click, once, onePage, sees, WAIT_MS_MAX } from './steps.ts'

const TASKS = 2_000
/** Ann and Ben are members of it. */
const PROJECT = 'Atlas Website'
const fewCities = once(() => readAllCities(10))

export function browserSuite({ test, browser }: BrowserSuiteContext): void {
  /** Opens a window for each of the two, with the same project. */
  const withTeam = async (use: (ann: Page, ben: Page, db: Database) => Promise<void>): Promise<void> => {
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

  test('shows what two people have written of one task, and sends the refused text again', async () => {
    await withTeam(async (ann, ben, db) => {
      const id = await firstTask(ben)
      await click(ben, '#online')
      await rename(ben, id, 'Ben wrote this offline')
      await sees(ben, '#status', 'Offline. 1 change waits.')
      await rename(ann, id, 'Ann wrote this')
      await until(
        async () => (await stored(db, IDS.tasks, id))['title'] === 'Ann wrote this',
        'the server has no title',
      )
      await click(ben, '#online')
      await sees(ben, '#refused-list li p', 'Somebody else has changed it meanwhile.')
      await seesTitle(ben, id, 'Ann wrote this')
      await clickText(ben, '#refused-list button', 'Send mine again')
      await seesTitle(ann, id, 'Ben wrote this offline')
    })
  })

  test('a project that is revoked leaves the device of a member who was offline, and no text is lost', async () => {
    await withTeam(async (ann, ben, db) => {
      const id = await firstTask(ben)
      await click(ben, '#online')
      await rename(ben, id, 'Ben wrote this offline')
      await sees(ben, '#status', 'Offline. 1 change waits.')
      await seesBen(ann)
      await ann.evaluate(() => {
        const row = [...document.querySelectorAll('#members li')].find((one) => one.textContent?.startsWith('Ben'))
        row!.querySelector('input')!.click()
      })
      const { project } = await stored(db, IDS.tasks, id)
      const members = async (): Promise<unknown> => (await stored(db, IDS.projects, String(project)))['members']
      await until(async () => !((await members()) as string[]).includes(personId(0, 1)), 'Ben is a member')
      await click(ben, '#online')
      await sees(ben, '#gone', `${PROJECT} left this device`)
      await sees(ben, '#refused-list dd', 'title: Ben wrote this offline')
    })
  })

  test('a role that changes shows in the other window', async () => {
    await withTeam(async (ann, ben) => {
      const isLead = (): Promise<boolean> => ben.evaluate(() => !document.querySelector<HTMLElement>('#lead')!.hidden)
      if (await isLead()) throw new Error('Ben leads before he is made a lead')
      await seesBen(ann)
      await ann.evaluate(() => {
        const row = [...document.querySelectorAll('#members li')].find((one) => one.textContent?.startsWith('Ben'))
        const role = row!.querySelector('select')!
        role.value = 'lead'
        role.dispatchEvent(new Event('change'))
      })
      await until(isLead, 'Ben does not lead')
    })
  })
}

/** What the server has. */
async function stored(db: Database, collection: string, id: string): Promise<Readonly<Record<string, unknown>>> {
  return (await db.collection<Record<string, unknown>>(`$records_${collection}`).get(id))!
}

async function firstTask(page: Page): Promise<string> {
  let found: string | undefined
  await until(async () => {
    found = await page.evaluate(() => document.querySelector<HTMLElement>('#tasks li')?.dataset['task'])
    return found !== undefined
  }, 'the project has no task')
  return found!
}

async function seesBen(page: Page): Promise<void> {
  await until(
    () =>
      page.evaluate(() =>
        [...document.querySelectorAll('#members li')].some(({ textContent }) => textContent?.startsWith('Ben')),
      ),
    'Ben is not among the members',
  )
}

async function rename(page: Page, id: string, title: string): Promise<void> {
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

async function seesTitle(page: Page, id: string, title: string): Promise<void> {
  const read = (): Promise<string | undefined> =>
    page.evaluate((id) => document.querySelector<HTMLInputElement>(`[data-task="${id}"] .title`)?.value, id)
  await until(async () => (await read()) === title, `the task is not called '${title}'`)
}

async function clickText(page: Page, selector: string, text: string): Promise<void> {
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

async function until(isTrue: () => Promise<boolean>, otherwise: string): Promise<void> {
  const deadline = performance.now() + WAIT_MS_MAX
  while (!(await isTrue())) {
    if (performance.now() > deadline) throw new Error(otherwise)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
