/** The page: opens this browser's copy of the cities, loads it if need be, and shows it. */
import { formatCount, formatDuration } from '../shared/format.ts'
import { deleteCopy, loadCopy, onTabMessage, openCopy } from './copy.ts'
import type { OpenCopy } from './copy.ts'
import { confirmed } from './dialogs.ts'
import { byId } from './dom.ts'
import { Explorer } from './explorer.ts'
import { describe } from './messages.ts'
import { LoadingStage, showNotice, showStage } from './stages.ts'
import type { Action } from './stages.ts'

const explorer = new Explorer(fail)
const loadingStage = new LoadingStage()
let copy: OpenCopy | undefined

const START: Action = { label: 'Load the cities', kind: 'primary', run: () => void load() }
const RETRY: Action = { label: 'Try again', kind: 'primary', run: () => void start() }
const DELETE: Action = { label: 'Delete the browser’s copy', kind: 'danger', run: () => void remove() }

byId('delete-copy').addEventListener('click', () => void remove())
byId('reload-copy').addEventListener('click', () => void loadAgain())
onTabMessage((message) => {
  if (message === 'deleted' && copy !== undefined) {
    void leave()
    showNotice({ title: 'Deleted in another tab', text: 'This browser’s copy is gone.' }, [START])
  } else if (message === 'complete' && copy === undefined) void start()
})
await start()

/** Opens what is there; loads the rest. */
async function start(): Promise<void> {
  try {
    const opened = await openCopy()
    if (opened.record?.complete) return await show(opened)
    await opened.db.close()
    await load()
  } catch (error) {
    fail(error)
  }
}

async function load(): Promise<void> {
  const cancel = new AbortController()
  loadingStage.show(() => cancel.abort())
  try {
    const loaded = await loadCopy(cancel.signal, {
      onWait: () => loadingStage.wait(),
      onDownload: (progress, total) => loadingStage.download(progress, total),
      onLoad: (progress) => loadingStage.load(progress),
    })
    await show(loaded)
  } catch (error) {
    if (!cancel.signal.aborted) return fail(error)
    showNotice(
      {
        title: 'Loading was cancelled',
        text: 'What was loaded by now is kept; loading goes on from there.',
      },
      [{ ...START, label: 'Go on loading' }, DELETE],
    )
  }
}

async function show(opened: OpenCopy): Promise<void> {
  copy = opened
  showStage('explorer')
  byId('opened').textContent = openingLine(opened)
  await explorer.attach(opened)
}

async function remove(): Promise<void> {
  const sure = await confirmed(
    'Delete the copy?',
    'The cities and your changes to them are removed from this browser.',
    'Delete',
  )
  if (!sure || !(await erase())) return
  showNotice({ title: 'The copy is deleted', text: 'Nothing of it is left in this browser.' }, [START])
}

async function loadAgain(): Promise<void> {
  const sure = await confirmed(
    'Load again?',
    'This deletes the copy with your changes and loads the cities anew.',
    'Load again',
  )
  if (sure && (await erase())) await load()
}

/** False, with the reason shown, when it did not work. */
async function erase(): Promise<boolean> {
  const open = copy
  forget()
  try {
    await deleteCopy(open?.db)
    return true
  } catch (error) {
    fail(error)
    return false
  }
}

function forget(): void {
  explorer.detach()
  copy = undefined
  byId('opened').textContent = ''
}

async function leave(): Promise<void> {
  const open = copy
  forget()
  await open?.db.close().catch(() => undefined)
}

function fail(error: unknown): void {
  void leave()
  const message = describe(error)
  showNotice(message, message.deletable ? [RETRY, DELETE] : [RETRY])
}

function openingLine({ record, openMs }: OpenCopy): string {
  const cities = `${formatCount(record?.documents ?? 0)} cities`
  if (openMs !== undefined) return `${cities} opened in ${formatDuration(openMs)}`
  return `${cities} loaded in ${formatDuration((record?.insertMs ?? 0) + (record?.indexMs ?? 0))}, indexes included`
}
