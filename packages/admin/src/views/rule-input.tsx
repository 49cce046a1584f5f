/** A rule as a choice: superusers only, everybody, or those who meet a condition, which is typed. */
import { useId } from 'react'
import type { ReactNode } from 'react'
import type { Collection, Rule } from '../api/collections.ts'
import { DEFINITION_TEXTS } from '../texts/definitions.ts'
import { RuleEditor, useRuleCheck } from './rule-editor.tsx'

const { ruleInput: texts } = DEFINITION_TEXTS
const LOGGED_IN = '@request.auth.id != ""'

type Kind = 'inherited' | 'nobody' | 'everybody' | 'rule'

interface RuleInputProps {
  readonly collection: Collection
  /** The name of the rule, for the controls. */
  readonly label: string
  /** Undefined: as `inherits` says. */
  readonly value: Rule | undefined
  readonly onValue: (value: Rule | undefined) => void
  /** What counts without a rule, where that is possible. */
  readonly inherits?: string
  readonly error?: string | undefined
  readonly isDisabled?: boolean
}

export function RuleInput({
  collection,
  label,
  value,
  onValue,
  inherits,
  error,
  isDisabled = false,
}: RuleInputProps): ReactNode {
  const id = useId()
  const mistakesIn = useRuleCheck(collection)
  const kind = kindOf(value)
  const [mistake] = kind === 'rule' ? mistakesIn(value!) : []
  const kinds: readonly Kind[] = [
    ...(inherits === undefined ? [] : ['inherited' as const]),
    'nobody',
    'everybody',
    'rule',
  ]
  const choose = (chosen: Kind): void => {
    if (chosen === 'rule') return onValue(LOGGED_IN)
    onValue(chosen === 'inherited' ? undefined : chosen === 'nobody' ? null : '')
  }
  return (
    <div className={`rule ${mistake === undefined && error === undefined ? '' : 'field-wrong'}`}>
      <fieldset className="rule-kinds" disabled={isDisabled}>
        <legend className="hidden-text">{texts.who(label)}</legend>
        {kinds.map((one) => (
          <label key={one}>
            <input type="radio" name={id} checked={kind === one} onChange={() => choose(one)} />
            <span>{one === 'inherited' ? inherits : texts[one]}</span>
          </label>
        ))}
      </fieldset>
      {kind === 'rule' && (
        <div className="rule-text">
          <RuleEditor collection={collection} label={label} value={value!} onValue={onValue} hint={LOGGED_IN} />
        </div>
      )}
      {mistake !== undefined && (
        <p className="field-error" role="alert">
          {texts.at(mistake.at + 1, mistake.message)}
        </p>
      )}
      {error !== undefined && mistake === undefined && (
        <p className="field-error" role="alert">
          {error}
        </p>
      )}
    </div>
  )
}

function kindOf(value: Rule | undefined): Kind {
  if (value === undefined) return 'inherited'
  return value === null ? 'nobody' : value === '' ? 'everybody' : 'rule'
}
