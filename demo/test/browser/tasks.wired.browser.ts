/** The page of the tasks, in a real browser, through PocketBase's SDK: rules decide what a visitor sees and may do. */
import { open } from 'pannier'
import { memory } from 'pannier/memory'
import type { BrowserSuiteContext } from '../../../tools/browser/browser-suite.ts'
import { freePort } from '../../../tools/processes.ts'
import { readAllCities } from '../../node/all-cities.ts'
import { loadCities } from '../../node/load.ts'
import { serve } from '../../node/server.ts'
import type { CityServer } from '../../node/server.ts'
import { loadTasks } from '../../tasks/load.ts'
import { click, once, onePage, sees, set } from './steps.ts'

const TASKS = 2_000
const fewCities = once(() => readAllCities(10))

export function browserSuite({ test, browser }: BrowserSuiteContext): void {
  test('shows a member the tasks of the own projects, filtered and counted', async () => {
    await withServer(async (url) => {
      const page = await browser.open(url)
      await sees(page, '#who', 'Ann leads team Atlas.')
      await sees(page, '#tasks tr:first-child td:nth-child(2)', 'Atlas')
      await set(page, '#filter-title', 'no such title')
      await sees(page, '#count', '0 tasks')
      await sees(page, '#tasks', 'No task that you may see is like that.')
      await page.reload()
      await sees(page, '#count', '0 tasks')
      await set(page, '#filter-title', '')
      await sees(page, '#page-number', '1 of')
      const shown = await page.evaluate(async () => {
        const state = document.querySelector<HTMLSelectElement>('#filter-state')!
        state.value = 'done'
        state.dispatchEvent(new Event('change'))
        const chosen = location.search
        history.back()
        while (state.value !== '') await new Promise((resolve) => setTimeout(resolve, 10))
        return [chosen.includes('state=done'), location.search.includes('state')]
      })
      if (String(shown) !== 'true,false') throw new Error('the address does not have the filter')
      await sees(page, '#who', 'Ann')
      await click(page, '#visitors button:nth-child(3)')
      await sees(page, '#who', 'Cleo is a member of team Basalt.')
      await sees(page, '#tasks tr:first-child td:nth-child(2)', 'Basalt')
      await page.close()
    })
  })

  test('adds a task, and refuses in words what a rule refuses', async () => {
    await withServer(async (url) => {
      const page = await browser.open(url)
      await sees(page, '#who', 'Ann')
      await sees(page, '#page-number', '1 of')
      await set(page, '#add-title', '<b>Water the plants</b>')
      await click(page, '#add [type=submit]')
      await sees(page, '#tasks tr:first-child td', '<b>Water the plants</b>')
      await sees(page, '#tasks tr:first-child td:nth-child(3)', 'Ann')
      await click(page, '#visitors button:nth-child(2)')
      await sees(page, '#who', 'Ben')
      await set(page, '#filter-title', 'water the plants')
      await sees(page, '#count', '1 task')
      await click(page, '#tasks tr:first-child button')
      await sees(page, '#refused', 'The rules do not let you do that')
      await sees(page, '#count', '1 task')
      await click(page, '#visitors button:nth-child(1)')
      await sees(page, '#who', 'Ann')
      await sees(page, '#count', '1 task')
      await click(page, '#tasks tr:first-child button')
      await sees(page, '#count', '0 tasks')
      await page.close()
    })
  })

  test('answers every hard question', async () => {
    await withServer(async (url) => {
      const page = await browser.open(url)
      await sees(page, '#page-number', '1 of')
      await click(page, '#ask')
      const wrong = await page.evaluate(async () => {
        const ask = document.querySelector<HTMLButtonElement>('#ask')!
        while (ask.disabled) await new Promise((resolve) => setTimeout(resolve, 10))
        const refused = document.querySelector<HTMLElement>('#refused')!
        const answers = [...document.querySelectorAll('.answer')].map(({ textContent }) => textContent ?? '')
        return refused.hidden ? answers.filter((answer) => !/^[\d,]+$/.test(answer)) : [refused.textContent ?? '']
      })
      if (wrong.length > 0) throw new Error(`not answered: ${wrong.join('; ')}`)
      await page.close()
    })
  })
}

async function withServer(use: (url: string) => Promise<void>): Promise<void> {
  await using db = await open('tasks', { storage: memory() })
  await loadCities(db, fewCities())
  const prepare: Parameters<typeof serve>[0]['prepare'] = (server) => loadTasks(server, { count: TASKS })
  const server: CityServer = await serve({ database: db, assets: await onePage(), port: await freePort(), prepare })
  try {
    await use(`${server.pageUrl}tasks/`)
  } finally {
    await server.close()
  }
}
