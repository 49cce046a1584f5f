/**
 * The page: opens this browser's copy of the cities, makes it if it is missing, shows it and syncs it with the server.
 */
import { isPannierError } from 'pannier'
import { formatCount, formatDuration } from '../shared/format.ts'
import { Conflicts } from './conflicts.ts'
import { COPY, COPY_TITLE, deleteCopy, LOCKED, makeCopy, onTabMessage } from './copy.ts'
import type { OpenCopy } from './copy.ts'
import { confirmed } from './dialogs.ts'
import { byId } from '../../tools/web/dom.ts'
import { Explorer } from './explorer.ts'
import { describe } from './messages.ts'
import { LoadingStage, showNotice, showStage } from './stages.ts'
import type { Action, Notice } from './stages.ts'
import { SyncCard } from './sync-card.ts'
import { Sync } from './sync.ts'
import { openUnlocked } from './unlock.ts'

const explorer = new Explorer(failShown)
const conflicts = new Conflicts(failShown)
const loadingStage = new LoadingStage()
const syncCard = new SyncCard({
  onOffline: (offline) => void sync.setOffline(offline).catch(failShown),
  onTryAgain: () => sync.tryAgain(),
})
const sync = new Sync((state, offline) => syncCard.show(state, offline))
let copy: OpenCopy | undefined
/** The copy was closed under this tab. One that has deleted it says so a moment later. */
let wasClosed = false

const START: Action = { label: 'Copy the cities', kind: 'primary', run: () => void start() }
const RETRY: Action = { label: 'Try again', kind: 'primary', run: () => void start() }
const UNLOCK: Action = { label: 'Give the password', kind: 'primary', run: () => void start() }
const DELETE: Action = { label: 'Delete the browser’s copy', kind: 'danger', run: () => void remove() }

const LOCKED_NOTICE: Notice = {
  title: 'This copy is locked',
  text: 'It is encrypted, and only its password opens it. If that is forgotten, the copy can be deleted and made again.',
}

byId('delete-copy').addEventListener('click', () => void remove())
if (COPY > 1 || LOCKED) {
  document.title = `${COPY_TITLE}: ${document.title}`
  byId('copy-number').textContent = ` ${COPY_TITLE.toLowerCase()}`
}
onTabMessage((message) => {
  if (message === 'deleted' && (copy !== undefined || wasClosed)) {
    wasClosed = false
    void leave()
    showNotice({ title: 'Deleted in another tab', text: 'This browser’s copy is gone.' }, [START])
  } else if (message === 'complete' && copy === undefined) void start()
})
// The page opens while the server is away.
navigator.serviceWorker?.register('service-worker.js').catch(() => {})
await start()

/** Opens what is there; loads the rest. */
async function start(): Promise<void> {
  wasClosed = false
  try {
    const opened = await openUnlocked()
    if (opened === undefined) return showNotice(LOCKED_NOTICE, [UNLOCK, DELETE])
    if (opened.record !== undefined) return await show(opened)
    await opened.db.close()
    await make()
  } catch (error) {
    fail(error)
  }
}

async function make(): Promise<void> {
  const cancel = new AbortController()
  loadingStage.show(() => cancel.abort())
  try {
    const made = await makeCopy(cancel.signal, {
      onWait: () => loadingStage.wait(),
      onCopy: (documents, progress) => loadingStage.copy(documents, progress),
      onIndex: (done) => loadingStage.index(done),
    })
    await show(made)
  } catch (error) {
    if (!cancel.signal.aborted) return fail(error)
    showNotice({ title: 'Copying was cancelled', text: 'What came by now is kept; copying goes on from there.' }, [
      { ...START, label: 'Go on copying' },
      DELETE,
    ])
  }
}

async function show(opened: OpenCopy): Promise<void> {
  copy = opened
  showStage('explorer')
  byId('opened').textContent = openingLine(opened)
  byId('sync-line').hidden = false
  sync.start(opened.db)
  conflicts.attach(opened.db)
  try {
    await explorer.attach(opened)
  } catch (error) {
    // A copy that the visitor left in the meantime is closed.
    if (copy === opened) throw error
  }
}

async function remove(): Promise<void> {
  const sure = await confirmed(
    'Delete the copy?',
    'The copy is removed from this browser, with those changes that are not sent. The server keeps what it has.',
    'Delete',
  )
  if (!sure || !(await erase())) return
  showNotice({ title: 'The copy is deleted', text: 'Nothing of it is left in this browser.' }, [START])
}

/** False, with the reason shown, when it did not work. */
async function erase(): Promise<boolean> {
  const open = copy
  await forget()
  try {
    await deleteCopy(open?.db)
    return true
  } catch (error) {
    fail(error)
    return false
  }
}

async function forget(): Promise<void> {
  explorer.detach()
  conflicts.detach()
  copy = undefined
  byId('opened').textContent = ''
  byId('sync-line').hidden = true
  await sync.stop()
}

async function leave(): Promise<void> {
  const open = copy
  await forget()
  await open?.db.close().catch(() => undefined)
}

/** Shows an error. Errors of work that was under way when this tab left the copy are ignored. */
function failShown(error: unknown): void {
  if (copy !== undefined) fail(error)
}

function fail(error: unknown): void {
  void leave()
  wasClosed = isPannierError(error, 'PANNIER_CLOSED')
  const message = describe(error)
  showNotice(message, message.deletable ? [RETRY, DELETE] : [RETRY])
}

function openingLine({ record, openMs }: OpenCopy): string {
  const cities = `${formatCount(record?.documents ?? 0)} cities`
  if (openMs !== undefined) return `${cities} opened in ${formatDuration(openMs)}`
  return `${cities} copied in ${formatDuration((record?.copyMs ?? 0) + (record?.indexMs ?? 0))}, indexes included`
}
