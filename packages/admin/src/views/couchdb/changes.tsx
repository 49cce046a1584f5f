/** The change feed of a database: the newest changes, or all from the beginning, as they happen. */
import { useEffect, useState } from 'react'
import type { ReactNode } from 'react'
import { listChanges } from '../../api/couchdb.ts'
import type { Change, ChangeFeed } from '../../api/couchdb.ts'
import { Button } from '../../parts/button.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import type { DataColumn } from '../../parts/data-table.tsx'
import { Failed, Loading, Notice } from '../../parts/loading.tsx'
import { useEnvironment } from '../../environment.ts'
import { changeQuery, linkTo, useRoute } from '../../state/route.ts'
import { OPERATIONS } from '../../texts/operations.ts'
import { IdForm } from './id-form.tsx'

const { changes: texts } = OPERATIONS
const PAGE = 100
const SHOWN_MAX = 1000
const RETRY_MS = 3000

export function Changes({ database }: { readonly database: string }): ReactNode {
  const { query } = useRoute()
  const { only = '' } = query
  const isFromStart = query['from'] === 'start'
  const isLive = query['live'] !== 'no'
  const { rows, pending, error, more } = useChanges(database, only, isFromStart, isLive)
  return (
    <>
      <div className="part-actions">
        <IdForm label={texts.only} id={only} onId={(id) => changeQuery({ only: id })} />
        <select
          className="input changes-order"
          aria-label={texts.order}
          value={isFromStart ? 'start' : 'newest'}
          onChange={({ target }) => changeQuery({ from: target.value === 'start' ? 'start' : undefined })}
        >
          <option value="newest">{texts.newest}</option>
          <option value="start">{texts.fromStart}</option>
        </select>
        <Button
          icon="refresh"
          className="toggle"
          aria-pressed={isLive}
          onPress={() => changeQuery({ live: isLive ? 'no' : undefined })}
        >
          {texts.live}
        </Button>
      </div>
      {rows === undefined && (error === undefined ? <Loading /> : <Failed error={error} onRetry={more} />)}
      {rows?.length === 0 && <Notice icon="list" title={texts.none} text={only === '' ? '' : texts.noneOf(only)} />}
      {rows !== undefined && rows.length > 0 && (
        <DataTable label={texts.title} columns={columnsOf(database)} rows={rows} keyOf={({ id }) => id} />
      )}
      {pending > 0 && (
        <div>
          <Button onPress={more}>{texts.more(pending)}</Button>
        </div>
      )}
    </>
  )
}

interface FollowedChanges {
  readonly rows: readonly Change[] | undefined
  /** The number of pending changes behind the shown ones. */
  readonly pending: number
  readonly error: unknown
  readonly more: () => void
}

interface ShownChanges {
  readonly rows?: readonly Change[]
  readonly pending: number
  readonly error?: unknown
}

/** From the beginning a page at a time; when all is shown, and among the newest, what happens is added. */
function useChanges(database: string, only: string, isFromStart: boolean, isLive: boolean): FollowedChanges {
  const environment = useEnvironment()
  const [pages, setPages] = useState(1)
  const [shown, setShown] = useState<ShownChanges>({ pending: 0 })
  const key = `${database} ${only} ${isFromStart}`
  useEffect(() => {
    setPages(1)
    setShown({ pending: 0 })
  }, [key])
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    const add = ({ results, pending = 0 }: Pick<ChangeFeed, 'results' | 'pending'>): void =>
      setShown(({ rows = [] }) => ({ rows: together(rows, results, isFromStart), pending: isFromStart ? pending : 0 }))
    const run = async (): Promise<void> => {
      let since: string
      if (isFromStart) {
        const page = await listChanges(database, only, { since: '0', limit: pages * PAGE }, signal)
        add(page)
        if ((page.pending ?? 0) > 0) return
        since = page.last_seq
      } else {
        // First: what happens while the page is read comes by the feed.
        since = (await listChanges(database, only, { since: 'now', limit: 0 }, signal)).last_seq
        const { results } = await listChanges(database, only, { descending: true, limit: PAGE }, signal)
        add({ results: results.toReversed() })
      }
      while (isLive && !signal.aborted) {
        const next = await listChanges(database, only, { since, feed: 'longpoll' }, signal)
        add(next)
        since = next.last_seq
      }
    }
    const follow = (): void => {
      run().catch((error: unknown) => {
        if (signal.aborted) return
        setShown((before) => ({ ...before, error }))
        environment.after(RETRY_MS, () => !signal.aborted && follow())
      })
    }
    follow()
    return () => controller.abort()
  }, [environment, key, database, only, isFromStart, isLive, pages])
  return { rows: shown.rows, pending: shown.pending, error: shown.error, more: () => setPages(pages + 1) }
}

/** A document has one change in the feed: its newest. `next` is in the order of the feed. */
function together(rows: readonly Change[], next: readonly Change[], isFromStart: boolean): readonly Change[] {
  const ids = new Set(next.map(({ id }) => id))
  const others = rows.filter(({ id }) => !ids.has(id))
  return isFromStart ? [...others, ...next].slice(-SHOWN_MAX) : [...next.toReversed(), ...others].slice(0, SHOWN_MAX)
}

function columnsOf(database: string): readonly DataColumn<Change>[] {
  const path = ['couchdb', 'databases', database]
  return [
    { name: 'seq', title: texts.seq, cell: ({ seq }) => <code title={seq}>{String(seq).replace(/-.*/, '')}</code> },
    {
      name: 'id',
      title: texts.document,
      cell: ({ id, deleted }) =>
        deleted === true ? (
          <code className="short-id muted">{id}</code>
        ) : (
          <a href={linkTo([...path, 'documents'], { doc: id })}>
            <code className="short-id">{id}</code>
          </a>
        ),
    },
    {
      name: 'revs',
      title: texts.revisions,
      cell: ({ changes }) => (
        <ul>
          {changes.map(({ rev }) => (
            <li key={rev}>
              <code>{rev.replace(/^(\d+-.{6}).*$/, '$1…')}</code>
            </li>
          ))}
        </ul>
      ),
    },
    {
      name: 'state',
      title: texts.state,
      cell: ({ id, deleted, changes }) => (
        <>
          {deleted === true && <span className="badge">{texts.deleted}</span>}{' '}
          {deleted !== true && changes.length > 1 && (
            <a href={linkTo([...path, 'changes'], { only: id, revisions: id })}>{texts.branches(changes.length)}</a>
          )}
        </>
      ),
    },
  ]
}
