/** The view of logins by OAuth2: the providers, with what they have given for the app, and the fields that take their data. */
import { useEffect, useState } from 'react'
import type { ReactNode } from 'react'
import type { AuthOptions, Provider } from '../../api/collections.ts'
import { listProviders } from '../../api/definitions.ts'
import type { KnownProvider } from '../../api/definitions.ts'
import { Button } from '../../parts/button.tsx'
import { FormField, TextInput } from '../../parts/form-field.tsx'
import { Menu } from '../../parts/menu.tsx'
import { DEFINITION_TEXTS as TEXTS } from '../../texts/definitions.ts'
import { errorAt, errorsBelow } from '../definition/drafts.ts'
import { kindOf } from '../kinds.ts'
import { AppleSecret } from './apple-secret.tsx'
import { Method } from './method.tsx'
import type { OptionsProps } from './method.tsx'

const { oauth2: texts } = TEXTS
const URLS = ['authURL', 'tokenURL', 'userInfoURL'] as const
const MAPPED = ['id', 'name', 'username', 'avatarURL'] as const

export function OAuth2({ collection, errors, onChange }: OptionsProps): ReactNode {
  const { oauth2, fields } = collection
  const { providers, mappedFields, enabled } = oauth2
  const known = useProviders()
  const change = (part: Partial<AuthOptions['oauth2']>): void => onChange({ oauth2: { ...oauth2, ...part } })
  const items = known
    .filter(({ name }) => !providers.some((one) => one.name === name))
    .map(({ name, displayName }) => ({
      label: displayName,
      onPress: () => change({ providers: [...providers, newProvider(name)] }),
    }))
  return (
    <Method
      title={texts.title}
      text={texts.text}
      isOn={enabled}
      onOn={(isOn) => change({ enabled: isOn })}
      error={errorAt(errors, 'oauth2')}
    >
      <ul className="def-fields">
        {providers.map((provider, place) => (
          <ProviderRow
            key={provider.name}
            provider={provider}
            title={known.find(({ name }) => name === provider.name)?.displayName ?? provider.name}
            errors={errorsBelow(errors, 'oauth2', 'providers', place)}
            onChange={(part) =>
              change({ providers: providers.map((one) => (one === provider ? { ...one, ...part } : one)) })
            }
            onRemove={() => change({ providers: providers.filter((one) => one !== provider) })}
          />
        ))}
      </ul>
      <Menu label={texts.add} icon="add" items={items}>
        {texts.add}
      </Menu>
      <div className="field-grid">
        {MAPPED.map((name) => (
          <FormField key={name} label={texts.mapped[name]} error={errorAt(errors, 'oauth2', 'mappedFields', name)}>
            {(control) => (
              <select
                {...control}
                className="input"
                value={mappedFields[name]}
                onChange={({ target }) => change({ mappedFields: { ...mappedFields, [name]: target.value } })}
              >
                <option value="">{texts.notKept}</option>
                {fields
                  .filter((field) => kindOf(field).isMappable && !field.system)
                  .map((field) => (
                    <option key={field.id}>{field.name}</option>
                  ))}
              </select>
            )}
          </FormField>
        ))}
      </div>
    </Method>
  )
}

function newProvider(name: string): Provider {
  return { name, clientId: '', authURL: '', tokenURL: '', userInfoURL: '', displayName: '', pkce: null, extra: null }
}

function useProviders(): readonly KnownProvider[] {
  const [known, setKnown] = useState<readonly KnownProvider[]>([])
  useEffect(() => {
    // Without the list nothing can be added; what is there can be changed.
    listProviders().then(setKnown, () => undefined)
  }, [])
  return known
}

interface ProviderRowProps {
  readonly provider: Provider
  readonly title: string
  readonly errors: unknown
  readonly onChange: (part: Partial<Provider>) => void
  readonly onRemove: () => void
}

function ProviderRow({ provider, title, errors, onChange, onRemove }: ProviderRowProps): ReactNode {
  const { name: service, clientId, clientSecret = '' } = provider
  return (
    <li className="def-field">
      <div className="def-field-head">
        <b>{title}</b>
        <span className="def-field-actions">
          {service === 'apple' && <MakeAppleSecret clientId={clientId} onChange={onChange} />}
          <Button kind="quiet" icon="trash" label={texts.remove(title)} onPress={onRemove} />
        </span>
      </div>
      <div className="field-grid">
        <TextInput
          label={texts.clientId(title)}
          value={clientId}
          error={errorAt(errors, 'clientId')}
          autoComplete="off"
          spellCheck={false}
          onValue={(value) => onChange({ clientId: value })}
        />
        <TextInput
          label={texts.clientSecret(title)}
          help={texts.secretHelp}
          type="password"
          value={clientSecret}
          error={errorAt(errors, 'clientSecret')}
          autoComplete="new-password"
          onValue={(value) => onChange({ clientSecret: value === '' ? undefined : value } as Partial<Provider>)}
        />
      </div>
      <More provider={provider} title={title} errors={errors} onChange={onChange} />
    </li>
  )
}

function More({ provider, title, errors, onChange }: Omit<ProviderRowProps, 'onRemove'>): ReactNode {
  const { displayName, pkce } = provider
  return (
    <details open={URLS.some((name) => errorAt(errors, name) !== undefined) || undefined}>
      <summary>{texts.more(title)}</summary>
      <div className="field-grid">
        <TextInput
          label={texts.displayName}
          value={displayName}
          onValue={(value) => onChange({ displayName: value })}
        />
        {URLS.map((name) => (
          <TextInput
            key={name}
            label={texts.urls[name]}
            value={provider[name]}
            placeholder={texts.asKnown}
            error={errorAt(errors, name)}
            onValue={(value) => onChange({ [name]: value })}
          />
        ))}
        <FormField label={texts.pkce}>
          {(control) => (
            <select
              {...control}
              className="input"
              value={String(pkce)}
              onChange={({ target }) => onChange({ pkce: target.value === 'null' ? null : target.value === 'true' })}
            >
              <option value="null">{texts.asKnown}</option>
              <option value="true">{texts.yes}</option>
              <option value="false">{texts.no}</option>
            </select>
          )}
        </FormField>
        <Extra provider={provider} error={errorAt(errors, 'extra')} onChange={onChange} />
      </div>
    </details>
  )
}

function MakeAppleSecret({
  clientId,
  onChange,
}: Pick<ProviderRowProps, 'onChange'> & { readonly clientId: string }): ReactNode {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button kind="quiet" icon="key" onPress={() => setOpen(true)}>
        {texts.apple.open}
      </Button>
      {isOpen && (
        <AppleSecret
          clientId={clientId}
          onMade={(id, secret) => {
            onChange({ clientId: id, clientSecret: secret })
            setOpen(false)
          }}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  )
}

/** The further options of one provider, as JSON. What is no object yet is not kept. */
function Extra({
  provider: { extra },
  error,
  onChange,
}: Pick<ProviderRowProps, 'provider' | 'onChange'> & { readonly error: string | undefined }): ReactNode {
  const [text, setText] = useState(extra === null ? '' : JSON.stringify(extra))
  const [isWrong, setWrong] = useState(false)
  return (
    <TextInput
      label={texts.extra}
      value={text}
      error={isWrong ? texts.noJson : error}
      placeholder="{}"
      spellCheck={false}
      onValue={(next) => {
        setText(next)
        const value = next.trim() === '' ? null : objectIn(next)
        setWrong(value === undefined)
        if (value !== undefined) onChange({ extra: value })
      }}
    />
  )
}

function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined
  } catch {
    return undefined
  }
}
