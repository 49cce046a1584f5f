/** Jobs that run at times of the day: their next time, how they have failed last, and a button that runs one now. */
import type { LogJson, Schedule } from '@pannier/backend'
import type { ReactNode } from 'react'
import { listLogs } from '../../api/logs.ts'
import { listJobs, runJob } from '../../api/operations.ts'
import { Button } from '../../parts/button.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import type { DataColumn } from '../../parts/data-table.tsx'
import { Moment } from '../../parts/figures.tsx'
import { Failed, Loading } from '../../parts/loading.tsx'
import { showDone } from '../../parts/toasts.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import { linkTo } from '../../state/route.ts'
import { OPERATIONS } from '../../texts/operations.ts'
import { ServerHead } from '../server-head.tsx'

const { jobs: texts } = OPERATIONS
/** Logs of errors that name their job. */
const FAILED = 'level >= 8 && data.job != ""'
const FAILURES_MAX = 500
const EVERY_MS = 5000

interface Jobs {
  readonly list: readonly Schedule[]
  /** The newest of each job. */
  readonly failures: ReadonlyMap<string, LogJson>
}

export function View(): ReactNode {
  const { value, error, reload } = useLoaded('jobs', loadJobs, EVERY_MS)
  return (
    <>
      <ServerHead title={texts.title} count={value === undefined ? '' : texts.count(value.list.length)} />
      <div className="view-body">
        <p className="muted">{texts.text}</p>
        {value === undefined && (error === undefined ? <Loading /> : <Failed error={error} onRetry={reload} />)}
        {value !== undefined && (
          <DataTable label={texts.title} columns={columnsOf(value.failures)} rows={value.list} keyOf={({ id }) => id} />
        )}
      </div>
    </>
  )
}

async function loadJobs(signal: AbortSignal): Promise<Jobs> {
  const [list, { items }] = await Promise.all([listJobs(signal), listLogs(FAILED, FAILURES_MAX, signal)])
  const failures = new Map<string, LogJson>()
  for (const log of items.toReversed()) failures.set(String(log.data['job']), log)
  return { list, failures }
}

function columnsOf(failures: ReadonlyMap<string, LogJson>): readonly DataColumn<Schedule>[] {
  const run = async (id: string): Promise<void> => {
    await runJob(id)
    showDone(texts.started(nameOf(id)))
  }
  return [
    {
      name: 'id',
      title: texts.job,
      cell: ({ id }) => (
        <span className="view-part">
          <b>{nameOf(id)}</b>
          <code className="muted">{id}</code>
        </span>
      ),
    },
    { name: 'expression', title: texts.times, cell: ({ expression }) => <code>{expression}</code> },
    {
      name: 'failure',
      title: texts.failure,
      cell: ({ id }) => <Failure log={failures.get(id)} />,
    },
    {
      name: 'actions',
      title: texts.actions,
      isActions: true,
      cell: ({ id }) => (
        <Button icon="refresh" label={texts.runJob(nameOf(id))} onPress={() => run(id)}>
          {texts.run}
        </Button>
      ),
    },
  ]
}

function Failure({ log }: { readonly log: LogJson | undefined }): ReactNode {
  if (log === undefined) return <span className="muted">{texts.noFailure}</span>
  return (
    <a href={linkTo(['logs'], { log: log.id })}>
      <Moment text={log.created} />
      {typeof log.data['error'] === 'string' && `: ${log.data['error']}`}
    </a>
  )
}

/** Jobs of the system have names that only they know. */
function nameOf(id: string): string {
  return (texts.system as Readonly<Record<string, string>>)[id] ?? id
}
