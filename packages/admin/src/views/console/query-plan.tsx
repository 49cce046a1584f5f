/** SQLite's plan for a statement: the rows of EXPLAIN QUERY PLAN, as steps inside of steps. */
import type { ReactNode } from 'react'
import { CONSOLE } from '../../texts/console.ts'

const texts = CONSOLE

interface PlanRow {
  readonly id: string
  readonly parent: string
  readonly detail: string
}

/** The columns are `id`, `parent`, `notused` and `detail`. */
export function planRows(rows: readonly (readonly (string | null)[])[]): readonly PlanRow[] {
  return rows.map(([id, parent, , detail]) => ({ id: id ?? '', parent: parent ?? '', detail: detail ?? '' }))
}

export function QueryPlan({ rows }: { readonly rows: readonly PlanRow[] }): ReactNode {
  const known = new Set(rows.map(({ id }) => id))
  return (
    <section className="plan" aria-label={texts.plan.title}>
      <Steps rows={rows} of={rows.filter(({ parent }) => !known.has(parent))} />
      <p className="muted">{texts.planHelp}</p>
    </section>
  )
}

function Steps({ rows, of }: { readonly rows: readonly PlanRow[]; readonly of: readonly PlanRow[] }): ReactNode {
  return (
    <ul className="plan-inputs">
      {of.map(({ id, detail }) => {
        const inner = rows.filter(({ parent }) => parent === id)
        return (
          <li key={id}>
            <div className={`plan-box ${detail.startsWith('SCAN ') ? 'plan-slow' : ''}`}>
              <code>{detail}</code>
            </div>
            {inner.length > 0 && <Steps rows={rows} of={inner} />}
          </li>
        )
      })}
    </ul>
  )
}
