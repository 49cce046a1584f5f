/** Why a record is let through: the rule as a tree, each part with its answer and with the values that decide it. */
import type { AnsweredCondition, RulePreview } from '@pannier/backend'
import type { ReactNode } from 'react'
import { parse } from '@pannier/rules'
import type { Operand } from '@pannier/rules'
import type { Collection } from '../../api/collections.ts'
import type { Row } from '../../api/records.ts'
import { Icon } from '../../parts/icon.tsx'
import { DEFINITION_TEXTS as TEXTS } from '../../texts/definitions.ts'
import type { ChosenAccount } from '../account-choice.tsx'

const { who: texts } = TEXTS
const VALUE_CHARS_MAX = 80

interface ReasonProps {
  readonly collection: Collection
  readonly preview: RulePreview
  /** As the superuser sees it. */
  readonly record: Row
  readonly account: ChosenAccount | undefined
}

export function Reason({ collection, preview, record, account }: ReasonProps): ReactNode {
  const { items, condition, seen } = preview
  const isAdmitted = items[0]?.isAdmitted === true
  const hidden =
    seen === undefined
      ? []
      : collection.fields
          .filter(({ name }) => Object.hasOwn(record, name) && !Object.hasOwn(seen, name))
          .map(({ name }) => name)
  return (
    <div className="reason">
      <p className={isAdmitted ? 'who-yes' : 'who-no'}>
        <Icon name={isAdmitted ? 'check' : 'close'} /> {isAdmitted ? texts.isAdmitted : texts.isRefused}
        {condition === undefined && ` ${isAdmitted ? texts.always : texts.never}`}
      </p>
      {condition !== undefined && (
        <ul className="reason-tree">
          <Part condition={condition} record={record} account={account?.row} />
        </ul>
      )}
      {hidden.length > 0 && <p>{texts.hidden(hidden)}</p>}
      {seen !== undefined && (
        <details>
          <summary>{texts.seen}</summary>
          <pre tabIndex={0}>{JSON.stringify(seen, undefined, 2)}</pre>
        </details>
      )}
    </div>
  )
}

interface PartProps {
  readonly condition: AnsweredCondition
  readonly record: Row
  readonly account: Row | undefined
}

function Part({ condition, record, account }: PartProps): ReactNode {
  const { text, isMet, kind, of } = condition
  const isApart = kind === 'and' && !isMet && of.every((part) => part.isMet)
  return (
    <li className={isMet ? 'who-yes' : 'who-no'}>
      <Icon name={isMet ? 'check' : 'close'} />
      <span className="hidden-text">{isMet ? texts.met : texts.notMet}</span>
      {kind === 'comparison' ? <code>{text}</code> : <span>{texts.kinds[kind]}</span>}
      {kind === 'comparison' && <Values text={text} record={record} account={account} />}
      {isApart && <p>{texts.apart}</p>}
      {of.length > 0 && (
        <ul>
          {of.map((part, at) => (
            <Part key={at} condition={part} record={record} account={account} />
          ))}
        </ul>
      )}
    </li>
  )
}

/** The values of the names in a comparison, as far as the record and the account have them. */
function Values({ text, record, account }: { readonly text: string } & Omit<PartProps, 'condition'>): ReactNode {
  const expression = parse(text)
  if (expression.kind !== 'comparison') return null
  const values = [expression.left, expression.right].flatMap(namesIn).flatMap((name): [string, unknown][] => {
    const [, ofAccount] = /^@request\.auth\.(\w+)/.exec(name) ?? []
    if (ofAccount !== undefined)
      return [[`@request.auth.${ofAccount}`, account === undefined ? '' : account[ofAccount]]]
    const [own = ''] = name.split(/[.:]/)
    return Object.hasOwn(record, own) ? [[own, record[own]]] : []
  })
  return (
    <span className="reason-values">
      {values.map(([name, value]) => (
        <span key={name}>
          {texts.valueOf(name)} <code>{JSON.stringify(value ?? null).slice(0, VALUE_CHARS_MAX)}</code>
        </span>
      ))}
    </span>
  )
}

function namesIn(operand: Operand): readonly string[] {
  if (operand.kind === 'call') return operand.of.flatMap(namesIn)
  return operand.kind === 'name' ? [operand.name] : []
}
