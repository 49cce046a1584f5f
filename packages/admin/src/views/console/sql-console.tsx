/** Statements of SQL on the collections. */
import type { ReportResult, SqlResult } from '@pannier/backend'
import { useState } from 'react'
import type { ReactNode } from 'react'
import { runSql } from '../../api/inspection.ts'
import { previewReport } from '../../api/reports.ts'
import type { Report } from '../../api/reports.ts'
import { Button, useBusy } from '../../parts/button.tsx'
import { errorText } from '../../parts/toasts.tsx'
import { keep, readKept, SQL_HISTORY } from '../../state/kept.ts'
import { goTo } from '../../state/route.ts'
import { CONSOLE } from '../../texts/console.ts'
import { ParameterValues, type GivenValues } from './parameter-values.tsx'
import { givenParameters } from './parameters.ts'
import { planRows, QueryPlan } from './query-plan.tsx'
import { ReportDialog } from './report-dialog.tsx'
import { ReportRows, Result } from './result.tsx'
import { SqlEditor } from './sql-editor.tsx'

const texts = CONSOLE
const HISTORY_MAX = 50
/** A long one is no work of a moment, and may be data. */
const KEPT_CHARS_MAX = 5000

/** The statements that ran before, the newest first. They may have secrets in them: signing out forgets them. */
function ranBefore(): readonly string[] {
  const kept = readKept<unknown>(SQL_HISTORY)
  return Array.isArray(kept) ? kept.filter((one) => typeof one === 'string') : []
}

function noteRun(text: string): void {
  if (text.length > KEPT_CHARS_MAX) return
  keep(SQL_HISTORY, [text, ...ranBefore().filter((one) => one !== text)].slice(0, HISTORY_MAX))
}

type Answer =
  | { readonly kind: 'rows' | 'plan'; readonly result: SqlResult }
  /** A report: a SELECT with parameters was run. */
  | { readonly kind: 'report'; readonly result: ReportResult }

/** A statement with parameters is a SELECT: it runs as a report does. */
async function answered(text: string, values: GivenValues): Promise<Answer> {
  const parameters = givenParameters(text, values)
  if (parameters.length === 0) return { kind: 'rows', result: await runSql(text) }
  return { kind: 'report', result: await previewReport(text, parameters) }
}

export function SqlConsole(): ReactNode {
  const [history, setHistory] = useState(ranBefore)
  const [text, setText] = useState(history[0] ?? 'select * from users limit 10')
  const [answer, setAnswer] = useState<Answer>()
  const [refusal, setRefusal] = useState('')
  const [saved, setSaved] = useState<Report>()
  const [values, setValues] = useState<GivenValues>({})
  const { isBusy, run } = useBusy()
  const ask = async (kind: 'rows' | 'plan'): Promise<void> => {
    setRefusal('')
    try {
      if (kind === 'plan') setAnswer({ kind, result: await runSql(`EXPLAIN QUERY PLAN ${text}`) })
      else {
        setAnswer(await answered(text, values))
        noteRun(text)
        setHistory(ranBefore())
      }
    } catch (error) {
      setAnswer(undefined)
      setRefusal(errorText(error))
    }
  }
  const isEmpty = text.trim() === ''
  return (
    <>
      <SqlEditor label={texts.sql} value={text} onValue={setText} onRun={() => run(() => ask('rows'))} />
      <ParameterValues parameters={givenParameters(text, values)} values={values} onValues={setValues} />
      <div className="form-foot">
        <Button kind="primary" disabled={isBusy || isEmpty} aria-busy={isBusy} onPress={() => run(() => ask('rows'))}>
          {texts.run}
        </Button>
        <Button disabled={isBusy || isEmpty} onPress={() => run(() => ask('plan'))}>
          {texts.explain}
        </Button>
        <Button
          disabled={isEmpty}
          onPress={() => setSaved({ name: '', description: '', query: text, parameters: [], rule: null })}
        >
          {texts.reports.save}
        </Button>
        <History
          ran={history}
          onChoose={setText}
          onClear={() => {
            keep(SQL_HISTORY, undefined)
            setHistory([])
          }}
        />
        <span className="muted">{texts.runKey}</span>
      </div>
      <p className="refusal" role="alert" hidden={refusal === ''}>
        {refusal}
      </p>
      {answer?.kind === 'plan' && <QueryPlan rows={planRows(answer.result.rows)} />}
      {answer?.kind === 'rows' && <Rows result={answer.result} />}
      {answer?.kind === 'report' && <ReportRows name="result" result={answer.result} />}
      {saved !== undefined && (
        <ReportDialog report={saved} onClose={() => setSaved(undefined)} onSaved={() => goTo(['console', 'reports'])} />
      )}
    </>
  )
}

interface HistoryProps {
  readonly ran: readonly string[]
  readonly onChoose: (text: string) => void
  readonly onClear: () => void
}

/** The choice that clears the history: no statement is a blank. */
const CLEAR = ' '

function History({ ran, onChoose, onClear }: HistoryProps): ReactNode {
  if (ran.length === 0) return null
  return (
    <select
      className="input history"
      aria-label={texts.history}
      value=""
      onChange={({ target: { value } }) => (value === CLEAR ? onClear() : onChoose(value))}
    >
      <option value="">{texts.history}</option>
      {ran.map((one) => (
        <option key={one} value={one}>
          {one}
        </option>
      ))}
      <option value={CLEAR}>{texts.clearHistory}</option>
    </select>
  )
}

function Rows({ result: { columns, rows, affectedRows, execTime } }: { readonly result: SqlResult }): ReactNode {
  return (
    <>
      <p role="status">{texts.sqlResult(rows.length, affectedRows, execTime)}</p>
      {rows.length > 0 && <Result name="result" columns={columns.map(({ name }) => name)} rows={rows} />}
    </>
  )
}
