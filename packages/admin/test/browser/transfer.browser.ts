/** Goal: records leave and enter by files, and what an app would send is copied. */
import type { BrowserSuiteContext } from '../../../../tools/browser/browser-suite.ts'
import type { Page } from '../../../../tools/browser/browser.ts'
import { assertEqual } from '../../../db/testing/check.ts'
import { until } from '../../../server/test/test-server.ts'
import type { TestServer } from '../../../server/test/test-server.ts'
import { fillTasks, ITSELF } from '../server.ts'
import { fill, giveFile, goTo, isSound, press, sees, seesNo, waitFor, withServerPage } from './steps.ts'

/** Three pages of the export. */
const TASKS = 1_001

export function browserSuite({ test, browser }: BrowserSuiteContext): void {
  // First steps and records are tested in WebKit, too.
  if (browser.engine === 'webkit') return
  const withPage = async (hash: string, use: (page: Page, server: TestServer) => Promise<void>): Promise<void> => {
    const look = async (page: Page, server: TestServer): Promise<void> => {
      await sees(page, 'Task', '[role=grid]')
      await use(page, server)
    }
    await withServerPage(browser, hash, look, (server) => fillTasks(server, TASKS))
  }

  test('all records that match are exported, as JSON and as CSV', async () => {
    await withPage(`/records/tasks?filter=${encodeURIComponent('points != 1 || done = true')}`, async (page) => {
      await keepDownloads(page)
      await press(page, 'More of the list')
      await press(page, 'Export …')
      await sees(page, 'Export tasks')
      await isSound(page)
      await fill(page, 'Format', 'json')
      await press(page, 'Export')
      await seesNo(page, 'Export tasks')
      const rows = JSON.parse(await downloaded(page, 'tasks.json')) as { id: string; points: number; done: boolean }[]
      const wanted = Array.from({ length: TASKS }, (_, at) => at).filter((at) => at % 101 !== 1 || at % 3 === 0)
      assertEqual(
        rows.map(({ id }) => id),
        wanted.map((at) => `task00000${String(at + 1).padStart(6, '0')}`),
      )
      await press(page, 'Clear the filter')
      await sees(page, '1,001 records')
      await press(page, 'More of the list')
      await press(page, 'Export …')
      await press(page, 'Export')
      const [head, first] = (await downloaded(page, 'tasks.csv')).split('\r\n')
      assertEqual(head, 'id,title,done,points,due,labels,notes,extra,created')
      assertEqual(
        first,
        'task00000000001,Task 000001,true,0,,"[""home"",""garden""]",<p>Notes of <b>000001</b></p>,"{""at"":0}",2026-01-01 00:00:00.000Z',
      )
    })
  })

  test('a file is imported as a whole, by the fields that are chosen, and what is refused is listed', async () => {
    await withPage('/records/tasks', async (page, { server }) => {
      await press(page, 'More of the list')
      await press(page, 'Import …')
      await giveFile(page, 'File', 'rows.csv', 'title,points\n"broken')
      await sees(page, 'This file can’t be read', '.field-wrong')
      await isSound(page)
      await giveFile(
        page,
        'File',
        'rows.csv',
        'title,points,labels,colour\nFrom a file,7,"[""home""]",red\nToo many,101,,\n',
      )
      await press(page, 'Check')
      await sees(page, 'Record 2 of the file: ', '.refusal')
      await sees(page, 'points: ', '.refusal')
      await isSound(page)
      await press(page, 'Import 2 records')
      await sees(page, 'Nothing was imported.', '.refusal')
      await giveFile(page, 'File', 'rows.csv', 'Name,points,labels\nFrom a file,7,"[""home""]"\n')
      await fill(page, 'Name', 'title')
      await press(page, 'Check')
      await sees(page, '1 record can be imported.')
      await press(page, 'Import 1 record')
      await sees(page, '1 record is imported.')
      await press(page, 'Close')
      await sees(page, 'From a file', '[role=grid]')
      const { items } = await server.backend.records.list(ITSELF, 'tasks', { filter: 'title = "From a file"' })
      assertEqual(
        items.map(({ points, labels }) => ({ points, labels })),
        [{ points: 7, labels: ['home'] }],
      )
    })
  })

  test('a field of many records is changed, and changed back', async () => {
    await withPage('/records/tasks', async (page, { server }) => {
      const pointsOf = async (): Promise<unknown[]> => {
        const options = { filter: "title = 'Task 001001' || title = 'Task 001000'", sort: 'title' }
        return (await server.backend.records.list(ITSELF, 'tasks', options)).items.map(({ points }) => points)
      }
      const before = await pointsOf()
      await press(page, 'Select Task 001001')
      await press(page, 'Select Task 001000')
      await press(page, 'Edit')
      await sees(page, 'Edit 2 records')
      await fill(page, 'Field', 'points')
      await isSound(page)
      await fill(page, 'Value', '101')
      await press(page, 'Change them')
      await sees(page, '100', '.field-wrong')
      assertEqual(await pointsOf(), before)
      await fill(page, 'Value', '55')
      await press(page, 'Change them')
      await sees(page, '2 records are changed.')
      assertEqual(await pointsOf(), [55, 55])
      await press(page, 'Undo')
      await until(async () => !(await pointsOf()).includes(55))
      assertEqual(await pointsOf(), before)
    })
  })

  test('a list and a record are copied as calls of the SDK and as curl', async () => {
    await withPage(`/records/tasks?filter=${encodeURIComponent("title != 'x'")}&sort=points`, async (page) => {
      await page.evaluate(() => {
        const copied: string[] = []
        const clipboard = { writeText: (text: string) => Promise.resolve(void copied.push(text)) }
        Object.defineProperty(navigator, 'clipboard', { value: clipboard })
        Object.assign(globalThis, { copied })
      })
      await press(page, 'More of the list')
      await press(page, 'Copy as a call of the SDK')
      await sees(page, 'Copied.')
      await press(page, 'More of the list')
      await press(page, 'Copy as curl')
      await goTo(page, '/records/tasks?record=task00000000002')
      await sees(page, 'Record of tasks')
      await press(page, 'More')
      await press(page, 'Copy as a call of the SDK')
      await press(page, 'More')
      await press(page, 'Copy as curl')
      await waitFor(page, 'four copies', '', () => (globalThis as unknown as Copied).copied.length === 4)
      const [url, copied] = await page.evaluate(() => [location.origin, (globalThis as unknown as Copied).copied])
      const client = `const pb = new PocketBase("${url}")\nawait pb.collection("tasks")`
      const records = `${url}/api/collections/tasks/records`
      assertEqual(copied, [
        `${client}.getList(1, 50, {"filter":"title != 'x'","sort":"points"})`,
        `curl -H "Authorization: $TOKEN" '${records}?page=1&perPage=50&filter=title+%21%3D+%27x%27&sort=points'`,
        `${client}.getOne("task00000000002")`,
        `curl -H "Authorization: $TOKEN" '${records}/task00000000002'`,
      ])
    })
  })
}

interface Copied {
  readonly copied: readonly string[]
}

/** Instead of the browser's folder of downloads: what the page would have given it, by name. */
async function keepDownloads(page: Page): Promise<void> {
  await page.evaluate(() => {
    const downloads: Record<string, string> = {}
    Object.assign(globalThis, { downloads })
    const urls = new Map<string, Blob>()
    const make = URL.createObjectURL.bind(URL)
    URL.createObjectURL = (blob) => {
      const url = make(blob)
      urls.set(url, blob as Blob)
      return url
    }
    HTMLAnchorElement.prototype.click = function (): void {
      void urls
        .get(this.href)!
        .text()
        .then((text) => (downloads[this.download] = text))
    }
  })
}

async function downloaded(page: Page, name: string): Promise<string> {
  type Kept = { readonly downloads: Readonly<Record<string, string>> }
  await waitFor(page, `a download ${name}`, name, (wanted) => wanted in (globalThis as unknown as Kept).downloads)
  return page.evaluate((wanted) => (globalThis as unknown as Kept).downloads[wanted]!, name)
}
