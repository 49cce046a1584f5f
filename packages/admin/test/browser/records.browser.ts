/** Goal: the records of a collection are read, written and deleted as a person does it, on 100,000 of them. */
import type { BrowserSuiteContext } from '../../../../tools/browser/browser-suite.ts'
import type { Page } from '../../../../tools/browser/browser.ts'
import { once } from '../../../../demo/test/browser/steps.ts'
import { assertEqual } from '../../../db/testing/check.ts'
import type { TestServer } from '../../../server/test/test-server.ts'
import { fillTasks, ITSELF, startAdmin } from '../server.ts'
import { fill, focused, goTo, holdAnswers, isSound, press, sees, seesNo, signIn, typeCode, waitFor } from './steps.ts'

const TASKS = 100_000
const GRID = '[role=grid]'

export function browserSuite({ test, after, browser }: BrowserSuiteContext): void {
  // To fill it takes seconds.
  const oneServer = once(async () => {
    const server = await startAdmin()
    after(() => server.close())
    await fillTasks(server, TASKS)
    return server
  })
  const withPage = async (hash: string, use: (page: Page, server: TestServer) => Promise<void>): Promise<void> => {
    const server = await oneServer()
    const page = await browser.open(`${server.url}/_/`)
    try {
      await signIn(page)
      await goTo(page, hash)
      await use(page, server)
      assertEqual(page.errors(), [])
    } finally {
      // The next page begins without a session and without columns. What is under way keeps nothing any more.
      await page.evaluate(() => {
        Storage.prototype.setItem = () => undefined
        localStorage.clear()
      })
      await page.close()
    }
  }

  test('the table shows the newest of 100,000 records, and their number', async () => {
    await withPage('/records/tasks', async (page) => {
      await sees(page, '100,000 records')
      await sees(page, 'Task 100000', GRID)
      await isSound(page)
      assertEqual((await rowCount(page)) < 100, true)
      assertEqual(
        await page.evaluate(() => document.querySelector('[role=grid]')!.getAttribute('aria-rowcount')),
        '100001',
      )
    })
  })

  test('any row is there after a jump, and few pages are loaded for it', async () => {
    await withPage('/records/tasks', async (page) => {
      await sees(page, 'Task 100000', GRID)
      const before = await pagesLoaded(page)
      await page.evaluate(() => {
        const grid = document.querySelector('[role=grid]')!
        grid.scrollTop = grid.scrollHeight
      })
      await sees(page, 'Task 000001', GRID)
      await page.evaluate(() => {
        const grid = document.querySelector('[role=grid]')!
        grid.scrollTop = grid.scrollHeight / 2
      })
      await waitFor(page, 'rows of the middle', '', () => /Task 0(?:499|500)\d\d/.test(document.body.innerText))
      assertEqual((await pagesLoaded(page)) - before <= 6, true)
    })
  })

  test('a column sorts, is hidden, resized and pinned, and all of it stays', async () => {
    await withPage('/records/tasks', async (page) => {
      await press(page, 'points')
      await waitFor(page, 'the order', '', () => location.hash.includes('sort=points'))
      await sees(page, 'Task 000001', GRID)
      await press(page, 'Column points')
      await press(page, 'Sort descending')
      await sees(page, 'Task 000101', GRID)
      await press(page, 'Column due')
      await press(page, 'Hide')
      await press(page, 'Column done')
      await press(page, 'Pin to the left')
      await press(page, 'Column points')
      await press(page, 'Wider')
      await page.reload()
      await sees(page, 'Task 000101', GRID)
      const heads = await page.evaluate(() =>
        [...document.querySelectorAll('.head-name')].map(({ textContent }) => textContent),
      )
      assertEqual([heads[0], heads.includes('due')], ['done', false])
      const width = await page.evaluate(
        () =>
          [...document.querySelectorAll<HTMLElement>('.cell-head')].find((head) => head.innerText.includes('points'))!
            .offsetWidth,
      )
      assertEqual(width, 216)
    })
  })

  test('a filter counts exactly, and a wrong one says why', async () => {
    await withPage('/records/tasks', async (page, { server }) => {
      await filter(page, 'done = true && points > 50')
      const { totalItems } = await server.backend.records.list(ITSELF, 'tasks', {
        filter: 'done = true && points > 50',
        perPage: 1,
      })
      await sees(page, `${totalItems!.toLocaleString('en')} records`)
      await filter(page, 'Task 000777')
      await sees(page, '1 record')
      await filter(page, 'title = "none"')
      await sees(page, 'No record matches')
      await filter(page, 'done = true && titel = "x"')
      await sees(page, 'At character 16', '.filter .field-error')
      await sees(page, 'Write "title".', '.filter .field-error')
      await isSound(page)
      await press(page, 'Clear the filter')
      await sees(page, '100,000 records')
    })
  })

  test('a change elsewhere is there at once, in its row and in the number', async () => {
    await withPage('/records/tasks', async (page, { server }) => {
      await sees(page, 'Task 100000', GRID)
      const { records } = server.backend
      await records.update(ITSELF, 'tasks', 'task00000100000', { title: 'Changed elsewhere' })
      await sees(page, 'Changed elsewhere', GRID)
      const { id } = await records.create(ITSELF, 'tasks', { title: 'Made elsewhere' })
      await sees(page, 'Made elsewhere', GRID)
      await sees(page, '100,001 records')
      await records.delete(ITSELF, 'tasks', String(id))
      await seesNo(page, 'Made elsewhere', GRID)
      await sees(page, '100,000 records')
    })
  })

  test('a record is made, with what the server says beside each field', async () => {
    await withPage('/records/tasks', async (page, { server }) => {
      await press(page, 'New record')
      await sees(page, 'New record of tasks')
      await isSound(page)
      await fill(page, 'points', '101')
      await typeCode(page, 'extra', '{"wrong')
      await press(page, 'Make the record')
      await sees(page, 'This is not JSON', '.field-wrong')
      await typeCode(page, 'extra', '{"right": true}')
      await press(page, 'Make the record')
      await waitFor(page, 'two errors', '', () => document.querySelectorAll('.field-wrong').length === 2)
      await fill(page, 'title', 'Made here')
      await fill(page, 'points', '100')
      await press(page, 'Make the record')
      await sees(page, 'The record is made.')
      await sees(page, 'Made here', GRID)
      const { items } = await server.backend.records.list(ITSELF, 'tasks', { filter: 'title = "Made here"' })
      assertEqual([items[0]!['points'], items[0]!['extra']], [100, { right: true }])
    })
  })

  test('a record is changed; one that somebody has changed meanwhile is not overwritten', async () => {
    await withPage('/records/tasks?record=task00000099999', async (page, { server }) => {
      await sees(page, 'Record of tasks')
      await fill(page, 'title', 'Mine')
      await server.backend.records.update(ITSELF, 'tasks', 'task00000099999', { title: 'Theirs' })
      await press(page, 'Save')
      await sees(page, 'Somebody else has changed this record')
      await press(page, 'Load theirs, and discard mine')
      await waitFor(page, 'theirs', '', () =>
        [...document.querySelectorAll('textarea')].some(({ value }) => value === 'Theirs'),
      )
      await fill(page, 'title', 'Ours')
      await press(page, 'Save')
      await sees(page, 'Ours', GRID)
    })
  })

  test('what was typed is not lost without a question', async () => {
    await withPage('/records/tasks?record=task00000099998', async (page) => {
      await fill(page, 'title', 'Half')
      await press(page, 'Cancel')
      await sees(page, 'Discard your changes?')
      await press(page, 'Discard')
      await seesNo(page, 'Record of tasks')
      await seesNo(page, 'Half')
    })
  })

  test('going back asks before it closes a form or a dialog in which something was typed', async () => {
    const leave = (page: Page, way: 'back' | 'link'): Promise<void> =>
      page.evaluate((to) => (to === 'back' ? history.back() : void (location.hash = '#/logs')), way)
    await withPage('/records/tasks', async (page) => {
      await goTo(page, '/records/tasks?record=task00000099998')
      await fill(page, 'title', 'Half')
      for (const way of ['back', 'link', 'back'] as const) {
        await leave(page, way)
        await sees(page, 'Discard your changes?')
        await page.evaluate(() =>
          [...document.querySelectorAll('dialog')].at(-1)!.querySelector<HTMLElement>('.dialog-foot button')!.click(),
        )
        await seesNo(page, 'Discard your changes?')
        await sees(page, 'Record of tasks', 'dialog')
      }
      assertEqual(await page.evaluate(() => location.hash), '#/records/tasks?record=task00000099998')
      await leave(page, 'back')
      await press(page, 'Discard')
      await seesNo(page, 'Record of tasks')
      assertEqual(await page.evaluate(() => location.hash), '#/records/tasks')
      await goTo(page, '/access/superusers?new=yes')
      await fill(page, 'E-mail address', 'half@example.com')
      await leave(page, 'back')
      await press(page, 'Discard')
      await waitFor(page, 'the list', '', () => location.hash === '#/records/tasks')
      await sees(page, ' records')
    })
  })

  test('a save whose answer comes late closes no other record', async () => {
    await withPage('/records/tasks?record=task00000099994', async (page) => {
      await fill(page, 'title', 'Saved late')
      const answers = await holdAnswers(page, 'PATCH')
      await press(page, 'Save')
      await sees(page, 'Saved late', GRID)
      await goTo(page, '/records/tasks?record=task00000099993')
      await press(page, 'Discard')
      await sees(page, 'task00000099993', 'dialog')
      await fill(page, 'title', 'Half')
      await answers.release()
      await sees(page, 'The record is saved.')
      await sees(page, 'Record of tasks', 'dialog')
      await press(page, 'Cancel')
      await sees(page, 'Discard your changes?')
      await press(page, 'Discard')
      await seesNo(page, 'Record of tasks')
    })
  })

  test('a delete can be undone, and happens otherwise', async () => {
    await withPage('/records/tasks?record=task00000099997', async (page) => {
      await press(page, 'More')
      await press(page, 'Delete')
      await sees(page, '1 record is deleted in a moment.')
      await press(page, 'Undo')
      await waitFor(page, 'no record that leaves', '', () => document.querySelector('.row-leaving') === null)
      await press(page, 'Select Task 099996')
      await press(page, 'Select Task 099995')
      await sees(page, '2 records selected')
      await isSound(page)
      await press(page, 'Delete')
      await waitFor(page, 'two that leave', '', () => document.querySelectorAll('.row-leaving').length === 2)
      await sees(page, '99,999 records')
      await seesNo(page, 'Task 099996', GRID)
      await sees(page, 'Task 099997', GRID)
    })
  })

  if (browser.supports.keys)
    test('the keyboard reaches every cell, opens records and selects them', async () => {
      await withPage('/records/tasks', async (page) => {
        await sees(page, 'Task 099990', GRID)
        await page.evaluate(() => document.querySelector<HTMLElement>('[role=grid] [tabindex="0"]')!.focus())
        await page.press('ArrowDown')
        await page.press('ArrowDown')
        await page.press(' ')
        await sees(page, '1 record selected')
        await page.press('ArrowLeft')
        assertEqual((await focused(page)).startsWith('Select '), true)
        await page.press('ArrowRight')
        await page.press('Enter')
        await sees(page, 'Record of tasks')
        await page.press('Escape')
        await seesNo(page, 'Record of tasks')
        await page.press('End')
        await page.press('PageDown')
        await waitFor(
          page,
          'a focus in the table',
          '',
          () => document.activeElement?.getAttribute('role') === 'gridcell',
        )
      })
    })

  test('a related record is found by a search', async () => {
    await withPage('/records/tasks', async (page) => {
      await press(page, 'New collection')
      await press(page, 'Load an example')
      await press(page, 'Load the example')
      await sees(page, '54 records')
      await press(page, 'New record')
      await fill(page, 'title', 'With an author')
      await fill(page, 'status', 'draft')
      await press(page, 'Choose from authors')
      await fill(page, 'Search', 'Emi')
      await sees(page, 'Emi Tanaka', '.picker')
      await seesNo(page, 'Ada Palmer', '.picker')
      await isSound(page)
      await page.evaluate(() => document.querySelector<HTMLElement>('.picker button')!.click())
      await sees(page, 'Emi Tanaka', '.related')
      await press(page, 'Make the record')
      await sees(page, 'With an author', GRID)
    })
    await (await oneServer()).close()
  })
}

async function filter(page: Page, text: string): Promise<void> {
  await typeCode(page, 'Filter', text)
  await page.press('Enter')
}

function rowCount(page: Page): Promise<number> {
  return page.evaluate(() => document.querySelectorAll('.grid-body [role=row]').length)
}

/** How many pages of the list the browser has asked for. */
function pagesLoaded(page: Page): Promise<number> {
  return page.evaluate(
    () => performance.getEntriesByType('resource').filter(({ name }) => name.includes('/tasks/records?')).length,
  )
}
