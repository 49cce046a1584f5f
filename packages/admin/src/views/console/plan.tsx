/** A plan, drawn: each step below the one that takes its rows, with what it reads. */
import type { ReactNode } from 'react'
import { suggestedFields } from '../../api/couchdb.ts'
import type { Plan, PlanStep } from '../../api/couchdb.ts'
import { numberText } from '../../parts/figures.tsx'
import { CONSOLE } from '../../texts/console.ts'

const { plan: texts } = CONSOLE

/** Steps that read everything: an index may be missing. */
const READS_ALL = ['full scan', 'id scan']
/** Not shown among the facts: they are drawn. */
const DRAWN = ['step', 'input', 'inputs', 'rows']

interface PlanTreeProps {
  readonly plan: Plan
  /** Makes the index that the server suggests. */
  readonly action?: ReactNode
}

export function PlanTree({ plan, action }: PlanTreeProps): ReactNode {
  const { rows, rowsExact, sortedByIndex, covering, cost, suggestion } = plan
  return (
    <section className="plan" aria-label={texts.title}>
      <p className="plan-facts">
        <span className="badge">{texts.rows(numberText(rows), rowsExact)}</span>
        <span className="badge">{texts.cost(numberText(cost))}</span>
        {sortedByIndex && <span className="badge badge-good">{texts.sorted}</span>}
        {covering && <span className="badge badge-good">{texts.covering}</span>}
      </p>
      <Step step={plan.plan} />
      {suggestion !== undefined && (
        <div className="plan-suggestion">
          <p>{texts.suggestion(suggestedFields(suggestion).join(', '))}</p>
          {action}
        </div>
      )}
    </section>
  )
}

function Step({ step }: { readonly step: PlanStep }): ReactNode {
  const inputs = [...(step.input === undefined ? [] : [step.input]), ...(step.inputs ?? [])]
  const facts = Object.entries(step).filter(([name]) => !DRAWN.includes(name))
  const rows = typeof step['rows'] === 'number' ? step['rows'] : undefined
  return (
    <div className="plan-step">
      <div className={`plan-box ${READS_ALL.includes(step.step) ? 'plan-slow' : ''}`}>
        <b>{step.step}</b>
        {rows !== undefined && <span className="muted"> {texts.stepRows(numberText(rows))}</span>}
        {facts.length > 0 && (
          <dl>
            {facts.map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>
                  <code>{typeof value === 'string' ? value : JSON.stringify(value)}</code>
                </dd>
              </div>
            ))}
          </dl>
        )}
      </div>
      {inputs.length > 0 && (
        <ul className="plan-inputs">
          {inputs.map((input, at) => (
            <li key={at}>
              <Step step={input} />
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
