/** Queries of Mango on any database: their documents, and how they are found. */
import { useState } from 'react'
import type { ReactNode } from 'react'
import { createIndex, explainFind, find, listDatabases, suggestedFields } from '../../api/couchdb.ts'
import type { FindResult, Plan } from '../../api/couchdb.ts'
import { Button, useBusy } from '../../parts/button.tsx'
import { CodeEditor } from '../../parts/code-editor/code-editor.tsx'
import { FormField } from '../../parts/form-field.tsx'
import { errorText, showDone } from '../../parts/toasts.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import { findCollection, useCollections } from '../../state/collections.ts'
import { changeQuery, useRoute } from '../../state/route.ts'
import { CONSOLE } from '../../texts/console.ts'
import { OPERATIONS } from '../../texts/operations.ts'
import { PlanTree } from './plan.tsx'
import { ResultTable } from './result-table.tsx'

const texts = CONSOLE
const EXAMPLE = '{\n  "selector": {\n    "_id": { "$gt": null }\n  },\n  "limit": 25\n}'
const COLUMNS_MAX = 8

interface Answer {
  readonly found?: FindResult
  readonly plan: Plan
}

export function MangoConsole(): ReactNode {
  const { query } = useRoute()
  const { value: databases = [] } = useLoaded('databases', listDatabases)
  const names = databases.map(({ db_name }) => db_name)
  const database = query['database'] ?? names.find((name) => !name.startsWith('_')) ?? names[0] ?? ''
  const [text, setText] = useState(EXAMPLE)
  const [answer, setAnswer] = useState<Answer>()
  const [refusal, setRefusal] = useState('')
  const { isBusy, run } = useBusy()
  const ask = async (isRun: boolean): Promise<void> => {
    setRefusal('')
    setAnswer(undefined)
    try {
      const asked = JSON.parse(text) as Readonly<Record<string, unknown>>
      const plan = await explainFind(database, asked)
      setAnswer({ plan, ...(isRun && { found: await find(database, asked) }) })
    } catch (error) {
      setRefusal(error instanceof SyntaxError ? texts.malformed(error.message) : errorText(error))
    }
  }
  return (
    <>
      <FormField label={texts.database}>
        {(control) => (
          <select
            {...control}
            className="input narrow-input"
            value={database}
            onChange={({ target }) => changeQuery({ database: target.value })}
          >
            {names.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        )}
      </FormField>
      <div
        className="code-panel"
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
          event.preventDefault()
          void run(() => ask(true))
        }}
      >
        <CodeEditor language="json" label={texts.mango} value={text} onValue={setText} />
      </div>
      <div className="form-foot">
        <Button kind="primary" disabled={isBusy || database === ''} onPress={() => run(() => ask(true))}>
          {texts.run}
        </Button>
        <Button disabled={isBusy || database === ''} onPress={() => run(() => ask(false))}>
          {texts.explain}
        </Button>
        <span className="muted">{texts.runKey}</span>
      </div>
      <p className="refusal" role="alert" hidden={refusal === ''}>
        {refusal}
      </p>
      {answer?.found !== undefined && <Found found={answer.found} />}
      {answer !== undefined && (
        <PlanTree
          plan={answer.plan}
          action={<Suggested database={database} plan={answer.plan} onMade={() => ask(false)} />}
        />
      )}
    </>
  )
}

function Found({ found: { docs, execution_stats: stats } }: { readonly found: FindResult }): ReactNode {
  const columns = [...new Set(docs.flatMap((doc) => Object.keys(doc)))].filter((name) => name !== '_rev')
  const shown = columns.slice(0, COLUMNS_MAX)
  return (
    <>
      <p role="status">{texts.found(docs.length, stats?.total_docs_examined ?? 0, stats?.execution_time_ms ?? 0)}</p>
      {docs.length > 0 && (
        <ResultTable label={texts.result} columns={shown} rows={docs.map((doc) => shown.map((name) => doc[name]))} />
      )}
    </>
  )
}

interface SuggestedProps {
  readonly database: string
  readonly plan: Plan
  readonly onMade: () => Promise<void>
}

/** Collections have indexes of their own, which their definition has. */
function Suggested({ database, plan: { suggestion }, onMade }: SuggestedProps): ReactNode {
  const { list } = useCollections()
  // The id is at the end of each index.
  const fields = suggestion === undefined ? [] : suggestedFields(suggestion).filter((name) => name !== '_id')
  if (fields.length === 0 || findCollection(list, database) !== undefined) return null
  const make = async (): Promise<void> => {
    await createIndex(database, fields)
    showDone(OPERATIONS.couchdb.indexMade)
    await onMade()
  }
  return <Button onPress={make}>{texts.makeIndex}</Button>
}
