/** Goal: fields that are not typed as texts are: files that are dropped, passwords, full text. */
import type { BrowserSuiteContext } from '../../../../tools/browser/browser-suite.ts'
import type { Page } from '../../../../tools/browser/browser.ts'
import { assertEqual } from '../../../db/testing/check.ts'
import type { TestServer } from '../../../server/test/test-server.ts'
import { ITSELF } from '../server.ts'
import { fill, goTo, isSound, press, sees, seesNo, waitFor, withServerPage } from './steps.ts'

const GRID = '[role=grid]'

export function browserSuite({ test, browser }: BrowserSuiteContext): void {
  // First steps and records are tested in WebKit, too.
  if (browser.engine === 'webkit') return
  const withPage = async (use: (page: Page, server: TestServer) => Promise<void>): Promise<void> => {
    await withServerPage(browser, '/start', use)
  }

  test('a file that is dropped is uploaded, and one is removed', async () => {
    await withPage(async (page, { server }) => {
      const { definitions, records } = server.backend
      const fields = [
        { name: 'title', type: 'text' },
        { name: 'papers', type: 'file', maxSelect: 3 },
      ]
      await definitions.create(ITSELF.principal, { name: 'folders', type: 'base', fields })
      await goTo(page, '/records/folders?record=new')
      // Collections are loaded with the page.
      await page.reload()
      await fill(page, 'title', 'With papers')
      await drop(page, ['first.txt', 'second.txt'])
      await sees(page, 'second.txt', '.files')
      await isSound(page)
      await press(page, 'Remove first.txt')
      await drop(page, ['third.txt'])
      await press(page, 'Make the record')
      await sees(page, 'With papers', GRID)
      const { items } = await records.list(ITSELF, 'folders', {})
      const names = items[0]!['papers'] as string[]
      assertEqual(
        names.map((name) => name.replace(/_\w+\./, '.')),
        ['second.txt', 'third.txt'],
      )
      const response = await fetch(`${server.url}/api/files/folders/${String(items[0]!['id'])}/${names[1]}`)
      assertEqual(await response.text(), 'of third.txt')
      await goTo(page, `/records/folders?record=${String(items[0]!['id'])}`)
      await press(page, `Remove ${names[0]}`)
      await press(page, 'Save')
      await sees(page, 'The record is saved.')
      assertEqual((await records.list(ITSELF, 'folders', {})).items[0]!['papers'], [names[1]])
    })
  })

  test('an account gets its password, is shown none, and keeps it until another is typed', async () => {
    await withPage(async (page, { url }) => {
      const login = async (password: string): Promise<number> => {
        const body = JSON.stringify({ identity: 'ann@example.com', password })
        const headers = { 'content-type': 'application/json' }
        const path = '/api/collections/users/auth-with-password'
        return (await fetch(url + path, { method: 'POST', headers, body })).status
      }
      await goTo(page, '/records/users?record=new')
      await fill(page, 'email', 'ann@example.com')
      await fill(page, 'password', 'short')
      await press(page, 'Make the record')
      await sees(page, 'at least 8', '.field-wrong')
      await fill(page, 'password', 'the first password')
      await press(page, 'Make the record')
      await sees(page, 'ann@example.com', GRID)
      assertEqual(await login('the first password'), 200)
      await page.evaluate(() => document.querySelector<HTMLElement>('[data-cell="0,2"]')!.click())
      await sees(page, 'Record of users')
      await isSound(page)
      assertEqual(await page.evaluate(() => document.querySelector<HTMLInputElement>('[type=password]')!.value), '')
      await fill(page, 'name', 'Ann')
      await press(page, 'Save')
      await sees(page, 'Ann', GRID)
      // The table may know it before the form.
      await seesNo(page, 'Record of users')
      assertEqual(await login('the first password'), 200)
      await page.evaluate(() => document.querySelector<HTMLElement>('[data-cell="0,2"]')!.click())
      await fill(page, 'password', 'the second password')
      await press(page, 'Save')
      await seesNo(page, 'Record of users')
      assertEqual([await login('the first password'), await login('the second password')], [400, 200])
    })
  })

  test('words are searched for, with the filter, and stay in the address', async () => {
    await withPage(async (page, { server }) => {
      await press(page, 'Load the example')
      await sees(page, '54 records')
      await search(page, 'brea*')
      await sees(page, '6 records')
      await waitFor(page, 'the words in the address', '', () => location.hash.includes('search=brea'))
      await page.reload()
      await sees(page, '6 records')
      await isSound(page)
      await goTo(page, `/records/articles?search=bread&filter=${encodeURIComponent('title ~ "bicycle"')}`)
      await sees(page, '1 record')
      await sees(page, 'Bread by bicycle', GRID)
      await search(page, 'no "such\\ words')
      await sees(page, 'No record matches')
      assertEqual((await server.backend.records.list(ITSELF, 'articles', { perPage: 1 })).totalItems, 54)
    })
  })
}

async function search(page: Page, words: string): Promise<void> {
  await fill(page, 'Search the texts', words)
  await page.evaluate(() => document.querySelector<HTMLFormElement>('.search-box')!.requestSubmit())
}

async function drop(page: Page, names: readonly string[]): Promise<void> {
  await waitFor(page, 'a place for files', names, (given) => {
    const place = document.querySelector('.files')
    if (place === null) return false
    const dataTransfer = new DataTransfer()
    for (const name of given) dataTransfer.items.add(new File([`of ${name}`], name, { type: 'text/plain' }))
    place.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }))
    return true
  })
}
