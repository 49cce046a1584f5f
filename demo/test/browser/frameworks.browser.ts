/** Goal: one app in five frameworks, in five tabs at once. Each shows what any of them has written. */
import { open } from 'pannier'
import { memory } from 'pannier/memory'
import type { BrowserSuiteContext } from '../../../tools/browser/browser-suite.ts'
import type { Page } from '../../../tools/browser/browser.ts'
import { freePort } from '../../../tools/processes.ts'
import { assertEqual } from '../../../packages/db/testing/check.ts'
import { readAllCities } from '../../node/all-cities.ts'
import { loadCities } from '../../node/load.ts'
import { serve } from '../../node/server.ts'
import { onePage, sees } from './steps.ts'

const FRAMEWORKS = ['react', 'vue', 'svelte', 'solid', 'angular'] as const
const MS_MAX = 30_000

export function browserSuite({ test, browser, baseUrl }: BrowserSuiteContext): void {
  test('a team in five frameworks: lists, counts, forms and searches, across tabs', async () => {
    const pages: Page[] = []
    for (const name of FRAMEWORKS) pages.push(await browser.open(`${baseUrl}/${name}.page`))
    const all = async (selector: string, expected: string): Promise<void> => {
      for (const [at, page] of pages.entries()) await shows(page, selector, expected, FRAMEWORKS[at]!)
    }
    await all('#count', '0 open, live')
    for (const [at, page] of pages.entries()) {
      await type(page, '#title', `Task ${at}`)
      await click(page, '#add')
    }
    await all('#count', '5 open, live')
    await all('#tasks', 'Task 0 Done Task 1 Done Task 2 Done Task 3 Done Task 4 Done')

    for (const [at, page] of pages.entries()) {
      await click(page, '#tasks li button:last-child')
      await all('#count', `${pages.length - 1 - at} open, live`)
    }
    await all('#tasks', '')

    await type(pages[0]!, '#title', 'Roof')
    await click(pages[0]!, '#add')
    await all('#tasks', 'Roof Done')
    for (const [at, page] of pages.entries()) {
      await click(page, '#tasks li :first-child')
      await until(page, () => document.querySelector<HTMLInputElement>('#rename')!.value.startsWith('Roof'))
      for (const letter of ` ${FRAMEWORKS[at]!}`) await typeOn(page, '#rename', letter)
      const title = `Roof ${FRAMEWORKS.slice(0, at + 1).join(' ')}`
      await all('#tasks', `${title} Done`)
    }

    for (const page of pages) await type(page, '#search', 'angular')
    await all('#found', 'Roof react vue svelte solid angular')
    for (const page of pages) await choose(page, '#person', 'Ben')
    await all('#tasks', '')
    for (const page of pages) await page.close()
  })

  test('the page that npm start serves shows each framework, with the headers of the server', () => seesAll(browser))
}

/** Opens the page of the demo for each framework, and gives what its server answers. */
async function seesAll(browser: BrowserSuiteContext['browser']): Promise<void> {
  await using database = await open('frameworks', { storage: memory() })
  await loadCities(database, readAllCities(10))
  const server = await serve({ database, assets: await onePage(), port: await freePort() })
  try {
    for (const name of FRAMEWORKS) {
      const page = await browser.open(`${server.pageUrl}frameworks/?${name}`)
      await sees(page, '#frameworks [aria-current]', name[0]!.toUpperCase() + name.slice(1))
      await sees(page, '#count', '0 open, live')
      await type(page, '#title', `By ${name}`)
      await click(page, '#add')
      await shows(page, '#tasks', `By ${name} Done`, name)
      await click(page, '#tasks li button:last-child')
      await shows(page, '#tasks', '', name)
      await page.close()
    }
  } finally {
    await server.close()
  }
}

/** The words of an element, once they are these. */
async function shows(page: Page, selector: string, expected: string, framework: string): Promise<void> {
  const seen = await page.evaluate(
    async ([what, words, msMax]) => {
      const text = (): string =>
        Array.from(document.querySelector(what!)?.querySelectorAll('li > *') ?? [])
          .map(({ textContent }) => textContent)
          .join(' ') ||
        (document.querySelector(what!)?.textContent ?? '(none)')
      const normal = (): string => text().replaceAll(/\s+/g, ' ').trim()
      const deadline = performance.now() + Number(msMax)
      while (normal() !== words && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 10))
      return normal()
    },
    [selector, expected, String(MS_MAX)],
  )
  assertEqual(seen, expected, `${framework} ${selector}`)
}

async function until(page: Page, condition: () => boolean): Promise<void> {
  for (let looks = 0; looks < MS_MAX / 10 && !(await page.evaluate(condition)); looks++)
    await new Promise((resolve) => setTimeout(resolve, 10))
}

async function click(page: Page, selector: string): Promise<void> {
  await page.evaluate((what) => document.querySelector<HTMLElement>(what)!.click(), selector)
}

async function type(page: Page, selector: string, text: string): Promise<void> {
  await enter(page, selector, '', text)
}

/** One letter more, at the end of what is shown. */
async function typeOn(page: Page, selector: string, letter: string): Promise<void> {
  await enter(page, selector, 'keep', letter)
}

async function choose(page: Page, selector: string, value: string): Promise<void> {
  await enter(page, selector, '', value)
}

async function enter(page: Page, selector: string, keeps: string, text: string): Promise<void> {
  await page.evaluate(
    ([what, keep, value]) => {
      const input = document.querySelector<HTMLInputElement>(what!)!
      const { set } = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(input), 'value')!
      set!.call(input, keep === '' ? value : input.value + value!)
      for (const event of ['input', 'change']) input.dispatchEvent(new Event(event, { bubbles: true }))
    },
    [selector, keeps, text],
  )
}
