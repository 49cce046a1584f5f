/** Statements of SQL on the collections. */
import { useState } from 'react'
import type { ReactNode } from 'react'
import { runSql } from '../../api/inspection.ts'
import type { SqlResult } from '../../api/inspection.ts'
import { Button, useBusy } from '../../parts/button.tsx'
import { CodeEditor } from '../../parts/code-editor/code-editor.tsx'
import { errorText } from '../../parts/toasts.tsx'
import { OPERATIONS } from '../../texts/operations.ts'
import { ResultTable } from './result-table.tsx'

const { console: texts } = OPERATIONS
const HISTORY_MAX = 20

/** The statements that were run, the newest first. They may have secrets in them, so the browser does not keep them. */
let ran: readonly string[] = []

export function SqlConsole(): ReactNode {
  const [text, setText] = useState(ran[0] ?? 'select * from users limit 10')
  const [result, setResult] = useState<SqlResult>()
  const [refusal, setRefusal] = useState('')
  const { isBusy, run } = useBusy()
  const send = async (): Promise<void> => {
    setRefusal('')
    try {
      const answer = await runSql(text)
      ran = [text, ...ran.filter((one) => one !== text)].slice(0, HISTORY_MAX)
      setResult(answer)
    } catch (error) {
      setResult(undefined)
      setRefusal(errorText(error))
    }
  }
  return (
    <>
      <div
        className="code-panel"
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
          event.preventDefault()
          void run(send)
        }}
      >
        <CodeEditor language="rule" label={texts.sql} value={text} onValue={setText} />
      </div>
      <div className="form-foot">
        <Button kind="primary" disabled={isBusy || text.trim() === ''} aria-busy={isBusy} onPress={() => run(send)}>
          {texts.run}
        </Button>
        {ran.length > 1 && (
          <select
            className="input history"
            aria-label={texts.history}
            value=""
            onChange={({ target }) => setText(target.value)}
          >
            <option value="">{texts.history}</option>
            {ran.map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        )}
        <span className="muted">{texts.runKey}</span>
      </div>
      <p className="refusal" role="alert" hidden={refusal === ''}>
        {refusal}
      </p>
      {result !== undefined && (
        <>
          <p role="status">{texts.sqlResult(result.rows.length, result.affectedRows, result.execTime)}</p>
          {result.rows.length > 0 && (
            <ResultTable label={texts.result} columns={result.columns.map(({ name }) => name)} rows={result.rows} />
          )}
        </>
      )}
    </>
  )
}
