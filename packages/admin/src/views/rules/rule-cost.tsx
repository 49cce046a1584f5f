/** The cost of a rule where devices keep records, and the reason if devices can't. The server says it. */
import type { CostForAccounts, ExplainedRules } from '@pannier/backend'
import { useEffect, useState } from 'react'
import type { ReactNode } from 'react'
import type { Collection, Rule } from '../../api/collections.ts'
import { explainRules } from '../../api/definitions.ts'
import { useEnvironment } from '../../environment.ts'
import { DEFINITION_TEXTS as TEXTS } from '../../texts/definitions.ts'
import { useRuleCheck } from '../rule-editor.tsx'

const { cost: texts } = TEXTS
const TYPING_MS = 400

interface RuleCostProps {
  readonly collection: Collection
  readonly rule: Rule
  readonly isList: boolean
}

export function RuleCost({ collection, rule, isList }: RuleCostProps): ReactNode {
  const explained = useExplained(collection, rule)
  const [first] = explained?.rules ?? []
  if (first === undefined || first.cost === null) return null
  return (
    <details className="cost">
      <summary>
        <span className={`badge cost-${first.cost}`}>{texts.badge(first.cost)}</span> {texts.classes[first.cost]}
      </summary>
      {first.costs.map((one) => (
        <CostOf key={one.accounts.join()} cost={one} isAlone={first.costs.length === 1} />
      ))}
      {isList && (
        <>
          <p>{explained!.syncProblems.length === 0 ? texts.syncs : texts.syncsNot}</p>
          <Problems problems={explained!.syncProblems} />
          {explained!.indexes.length > 0 && <p>{texts.indexes(explained!.indexes)}</p>}
        </>
      )}
    </details>
  )
}

/** A rule that is wrong is not asked about: the editor says what is. */
function useExplained(collection: Collection, rule: Rule): ExplainedRules | undefined {
  const { id } = collection
  const environment = useEnvironment()
  const [explained, setExplained] = useState<ExplainedRules>()
  const mistakesIn = useRuleCheck(collection)
  const isAsked = rule !== null && rule !== '' && mistakesIn(rule).length === 0
  useEffect(() => {
    setExplained(undefined)
    if (!isAsked) return undefined
    const controller = new AbortController()
    const ask = (): void => {
      // A rule of fields that are not saved yet can't be explained.
      explainRules(id, rule, controller.signal).then(setExplained, () => undefined)
    }
    const cancel = environment.after(TYPING_MS, ask)
    return () => {
      cancel()
      controller.abort()
    }
  }, [environment, id, rule, isAsked])
  return explained
}

function CostOf({
  cost: { accounts, cost, alternatives, problems },
  isAlone,
}: {
  readonly cost: CostForAccounts
  readonly isAlone: boolean
}): ReactNode {
  const names = accounts.map((name) => name ?? texts.guests).join(', ')
  return (
    <div className="cost-of">
      {!isAlone && (
        <p>
          <b>{names}</b>: {texts.badge(cost)}
        </p>
      )}
      <ul>
        {alternatives.map(({ foundBy, record, account, tested }, at) => (
          <li key={at}>
            {foundBy === '' ? texts.all : texts.foundBy(foundBy)}
            <Comparisons text={texts.record} list={record} />
            <Comparisons text={texts.account} list={account} />
            <Comparisons text={texts.tested} list={tested} />
          </li>
        ))}
      </ul>
      <Problems problems={problems} />
    </div>
  )
}

function Comparisons({ text, list }: { readonly text: string; readonly list: readonly string[] }): ReactNode {
  if (list.length === 0) return null
  return (
    <div>
      {text}{' '}
      {list.map((one) => (
        <code key={one}>{one}</code>
      ))}
    </div>
  )
}

function Problems({ problems }: { readonly problems: CostForAccounts['problems'] }): ReactNode {
  return (
    <ul>
      {problems.map(({ message, position }) => (
        <li key={message + String(position)}>
          {position === null ? message : TEXTS.ruleInput.at(position + 1, message)}
        </li>
      ))}
    </ul>
  )
}
