/** How the accounts of a collection log in, how long their tokens live, and what the mails to them say. */
import type { ReactNode } from 'react'
import type { AuthOptions, Collection, MailTemplate } from '../../api/collections.ts'
import { FormField, TextInput } from '../../parts/form-field.tsx'
import { DEFINITION_TEXTS as TEXTS } from '../../texts/definitions.ts'
import { DefinitionView } from '../definition/definition-view.tsx'
import { errorAt, errorsBelow } from '../definition/drafts.ts'
import { kindOf } from '../kinds.ts'
import { RuleInput } from '../rule-input.tsx'
import type { CollectionViewProps } from '../view.ts'
import { Method } from './method.tsx'
import type { OptionsProps } from './method.tsx'
import { OAuth2 } from './oauth2.tsx'

const { accounts: texts } = TEXTS
const TOKENS = ['authToken', 'passwordResetToken', 'emailChangeToken', 'verificationToken', 'fileToken'] as const
const TEMPLATES = ['verificationTemplate', 'resetPasswordTemplate', 'confirmEmailChangeTemplate'] as const

export function View({ collection }: CollectionViewProps): ReactNode {
  return (
    <DefinitionView collection={collection}>
      {({ value, errors, change }) => {
        if (value.type !== 'auth') return null
        const props: OptionsProps = { collection: value as Collection & AuthOptions, errors, onChange: change }
        return (
          <>
            <Password {...props} />
            <OneTimePassword {...props} />
            <OAuth2 {...props} />
            <Passkeys {...props} />
            <SecondFactor {...props} />
            <Alerts {...props} />
            <Tokens {...props} />
            <Mails {...props} />
          </>
        )
      }}
    </DefinitionView>
  )
}

function Password({ collection, errors, onChange }: OptionsProps): ReactNode {
  const { passwordAuth, fields } = collection
  const { enabled, identityFields } = passwordAuth
  const names = fields.filter((field) => kindOf(field).isTitle && field.name !== 'tokenKey').map(({ name }) => name)
  const toggle = (name: string): void => {
    const next = identityFields.includes(name)
      ? identityFields.filter((one) => one !== name)
      : [...identityFields, name]
    onChange({ passwordAuth: { enabled, identityFields: next } })
  }
  return (
    <Method
      title={texts.password}
      text={texts.passwordText}
      isOn={enabled}
      onOn={(isOn) => onChange({ passwordAuth: { ...passwordAuth, enabled: isOn } })}
      error={errorAt(errors, 'passwordAuth', 'identityFields') ?? errorAt(errors, 'passwordAuth')}
    >
      <p className="field-label">{texts.identity}</p>
      <div className="choices" role="group" aria-label={texts.identity}>
        {names.map((name) => (
          <label key={name} className="choice">
            <input type="checkbox" checked={identityFields.includes(name)} onChange={() => toggle(name)} />
            {name}
          </label>
        ))}
      </div>
      <p className="field-help">{texts.identityHelp}</p>
    </Method>
  )
}

function OneTimePassword({ collection: { otp }, errors, onChange }: OptionsProps): ReactNode {
  const change = (part: Partial<AuthOptions['otp']>): void => onChange({ otp: { ...otp, ...part } })
  return (
    <Method title={texts.otp} text={texts.otpText} isOn={otp.enabled} onOn={(enabled) => change({ enabled })}>
      <div className="field-grid">
        <Seconds
          label={texts.duration}
          value={otp.duration}
          error={errorAt(errors, 'otp', 'duration')}
          onValue={(duration) => change({ duration })}
        />
        <TextInput
          label={texts.digits}
          type="number"
          value={String(otp.length)}
          error={errorAt(errors, 'otp', 'length')}
          onValue={(length) => change({ length: Number(length) })}
        />
      </div>
      <Template
        title={texts.otpMail}
        value={otp.emailTemplate}
        errors={errorsBelow(errors, 'otp', 'emailTemplate')}
        onValue={(emailTemplate) => change({ emailTemplate })}
      />
    </Method>
  )
}

function Passkeys({ collection: { passkey }, errors, onChange }: OptionsProps): ReactNode {
  return (
    <Method
      title={texts.passkeys}
      text={texts.passkeysText}
      isOn={passkey?.enabled === true}
      onOn={(enabled) => onChange({ passkey: { enabled } })}
      error={errorAt(errors, 'passkey')}
    />
  )
}

function SecondFactor({ collection, errors, onChange }: OptionsProps): ReactNode {
  const { mfa } = collection
  const change = (part: Partial<AuthOptions['mfa']>): void => onChange({ mfa: { ...mfa, ...part } })
  return (
    <Method
      title={texts.mfa}
      text={texts.mfaText}
      isOn={mfa.enabled}
      onOn={(enabled) => change({ enabled })}
      error={errorAt(errors, 'mfa', 'enabled') ?? errorAt(errors, 'mfa')}
    >
      <Seconds
        label={texts.mfaDuration}
        value={mfa.duration}
        error={errorAt(errors, 'mfa', 'duration')}
        onValue={(duration) => change({ duration })}
      />
      <p className="field-label">{texts.mfaRule}</p>
      <RuleInput
        collection={collection}
        label={texts.mfaRule}
        value={mfa.rule}
        words={texts.mfaWords}
        error={errorAt(errors, 'mfa', 'rule')}
        onValue={(rule) => change({ rule: rule ?? '' })}
      />
    </Method>
  )
}

function Alerts({ collection: { authAlert }, errors, onChange }: OptionsProps): ReactNode {
  return (
    <Method
      title={texts.alert}
      text={texts.alertText}
      isOn={authAlert.enabled}
      onOn={(enabled) => onChange({ authAlert: { ...authAlert, enabled } })}
    >
      <Template
        title={texts.alertMail}
        value={authAlert.emailTemplate}
        errors={errorsBelow(errors, 'authAlert', 'emailTemplate')}
        onValue={(emailTemplate) => onChange({ authAlert: { ...authAlert, emailTemplate } })}
      />
    </Method>
  )
}

function Tokens({ collection, errors, onChange }: OptionsProps): ReactNode {
  return (
    <section className="rule-card" aria-labelledby="tokens">
      <h2 id="tokens">{texts.tokens}</h2>
      <p className="def-text">{texts.tokensText}</p>
      <div className="field-grid">
        {TOKENS.map((name) => (
          <Seconds
            key={name}
            label={texts.tokenNames[name]}
            value={collection[name].duration}
            error={errorAt(errors, name, 'duration')}
            onValue={(duration) => onChange({ [name]: { duration } })}
          />
        ))}
      </div>
    </section>
  )
}

function Mails({ collection, errors, onChange }: OptionsProps): ReactNode {
  return (
    <section className="rule-card" aria-labelledby="mails">
      <h2 id="mails">{texts.mails}</h2>
      <p className="def-text">{texts.mailsText}</p>
      {TEMPLATES.map((name) => (
        <Template
          key={name}
          title={texts.templateNames[name]}
          value={collection[name]}
          errors={errorsBelow(errors, name)}
          onValue={(template) => onChange({ [name]: template })}
        />
      ))}
    </section>
  )
}

interface SecondsProps {
  readonly label: string
  readonly value: number
  readonly error: string | undefined
  readonly onValue: (seconds: number) => void
}

function Seconds({ label, value, error, onValue }: SecondsProps): ReactNode {
  return (
    <TextInput
      label={label}
      type="number"
      min={1}
      help={texts.time(value)}
      value={String(value)}
      error={error}
      onValue={(text) => onValue(Number(text))}
    />
  )
}

interface TemplateProps {
  readonly title: string
  readonly value: MailTemplate
  readonly errors: unknown
  readonly onValue: (value: MailTemplate) => void
}

function Template({ title, value, errors, onValue }: TemplateProps): ReactNode {
  const [subject, body] = [errorAt(errors, 'subject'), errorAt(errors, 'body')]
  return (
    <details className="template" open={subject !== undefined || body !== undefined || undefined}>
      <summary>{title}</summary>
      <TextInput
        label={texts.subjectOf(title)}
        value={value.subject}
        error={subject}
        onValue={(next) => onValue({ ...value, subject: next })}
      />
      <FormField label={texts.bodyOf(title)} help={texts.placeholders} error={body}>
        {(control) => (
          <textarea
            {...control}
            className="input input-code"
            rows={8}
            spellCheck={false}
            value={value.body}
            onChange={({ target }) => onValue({ ...value, body: target.value })}
          />
        )}
      </FormField>
    </details>
  )
}
