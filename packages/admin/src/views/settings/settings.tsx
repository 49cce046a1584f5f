/** The settings, in parts that are stored one by one. What is typed in one part stays while another one is shown. */
import type { ReactNode } from 'react'
import { health } from '../../api/operations.ts'
import { confirm } from '../../state/question.ts'
import { Failed, Loading } from '../../parts/loading.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import { useCollections } from '../../state/collections.ts'
import { linkTo } from '../../state/route.ts'
import { OPERATIONS } from '../../texts/operations.ts'
import { BucketSettings } from '../bucket-settings.tsx'
import { bringIntoView, ServerHead } from '../server-head.tsx'
import {
  CheckSetting,
  ChoiceSetting,
  ListSetting,
  NumberSetting,
  SecretSetting,
  SettingsForm,
  TextSetting,
  useDraftValue,
  useSettingsDraft,
} from '../settings-form.tsx'
import type { SettingsDraft } from '../settings-form.tsx'
import type { ServerViewProps } from '../view.ts'
import { RateLimits } from './rate-limits.tsx'
import { TestMail } from './test-mail.tsx'
import sheet from './settings.css'

const { settings: texts } = OPERATIONS
const PARTS = ['application', 'mail', 'files', 'limits', 'addresses', 'batch', 'logs'] as const
type Part = (typeof PARTS)[number]

/** The server's name of an app that nobody has named. */
const UNNAMED = 'Acme'

/** The paths that each part stores. */
const PATHS: Readonly<Record<Part, readonly string[]>> = {
  application: ['meta.appName', 'meta.appURL'],
  mail: ['meta.senderName', 'meta.senderAddress', 'smtp'],
  files: ['s3'],
  limits: ['rateLimits'],
  addresses: ['trustedProxy', 'superuserIPs'],
  batch: ['batch'],
  logs: ['logs'],
}

export function View({ rest: [name] }: ServerViewProps): ReactNode {
  const settings = useSettingsDraft()
  const part = PARTS.find((one) => one === name) ?? PARTS[0]
  return (
    <>
      <link rel="stylesheet" href={sheet} precedence="page" />
      <ServerHead title={texts.title} />
      <div className="settings">
        <nav className="settings-parts" aria-label={texts.parts}>
          <ul className="links">
            {PARTS.map((one) => (
              <li key={one}>
                <a
                  ref={one === part ? bringIntoView : undefined}
                  href={linkTo(['settings', one])}
                  aria-current={one === part ? 'page' : undefined}
                >
                  <span>{texts.partNames[one]}</span>
                  {settings.isChanged(PATHS[one]) && (
                    <span className="settings-changed" title={texts.changed} role="img" aria-label={texts.changed} />
                  )}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <section className="settings-part" aria-labelledby="settings-part">
          <h2 id="settings-part">{texts.partNames[part]}</h2>
          <p className="muted">{texts.partTexts[part]}</p>
          {settings.saved !== undefined ? (
            <PartForm key={part} part={part} settings={settings} />
          ) : settings.error === undefined ? (
            <Loading />
          ) : (
            <Failed error={settings.error} onRetry={settings.reload} />
          )}
        </section>
      </div>
    </>
  )
}

function PartForm({ part, settings }: { readonly part: Part; readonly settings: SettingsDraft }): ReactNode {
  const paths = PATHS[part]
  const isSaved = !settings.isChanged(paths)
  const { value: seen } = useLoaded('health', health)
  const ownAddress = seen?.realIP ?? ''
  const onSave = async (): Promise<boolean> => {
    const { superuserIPs } = settings.draft
    if (part !== 'addresses' || !settings.isChanged(['superuserIPs']) || !isList(superuserIPs)) return true
    if (superuserIPs.length === 0 || superuserIPs.includes(ownAddress)) return true
    const text = texts.lockText(ownAddress)
    return confirm({ title: texts.lockTitle, text, yes: texts.lockYes, isDanger: true })
  }
  return (
    <>
      <SettingsForm settings={settings} paths={paths} onSave={onSave}>
        {part === 'application' && <Application />}
        {part === 'mail' && <Mail />}
        {part === 'files' && (
          <BucketSettings path="s3" label={texts.useBucket} help={texts.useBucketHelp} isSaved={isSaved} />
        )}
        {part === 'limits' && <Limits />}
        {part === 'addresses' && <Addresses own={ownAddress} header={seen?.possibleProxyHeader ?? ''} />}
        {part === 'batch' && <Batch />}
        {part === 'logs' && <Logs />}
      </SettingsForm>
      {part === 'mail' && <TestMail isSaved={isSaved} />}
    </>
  )
}

function Application(): ReactNode {
  return (
    <>
      <TextSetting path="meta.appName" label={texts.appName} help={texts.appNameHelp} />
      <TextSetting path="meta.appURL" label={texts.appUrl} help={texts.appUrlHelp} type="url" />
    </>
  )
}

function Mail(): ReactNode {
  const { value: isOn } = useDraftValue('smtp.enabled')
  const { value: appName } = useDraftValue('meta.appName')
  return (
    <>
      {appName === UNNAMED && (
        <p role="status">
          {texts.unnamed} <a href={linkTo(['settings', 'application'])}>{texts.partNames.application}</a>
        </p>
      )}
      <div className="settings-columns">
        <TextSetting path="meta.senderName" label={texts.senderName} />
        <TextSetting path="meta.senderAddress" label={texts.senderAddress} type="email" />
      </div>
      <CheckSetting path="smtp.enabled" label={texts.useSmtp} help={texts.useSmtpHelp} />
      {isOn === true && (
        <div className="settings-columns">
          <TextSetting path="smtp.host" label={texts.host} />
          <NumberSetting path="smtp.port" label={texts.port} />
          <TextSetting path="smtp.username" label={texts.username} />
          <SecretSetting path="smtp.password" label={texts.password} />
          <ChoiceSetting
            path="smtp.authMethod"
            label={texts.authMethod}
            options={[
              ['', texts.authDefault],
              ['PLAIN', 'PLAIN'],
              ['LOGIN', 'LOGIN'],
            ]}
          />
          <TextSetting path="smtp.localName" label={texts.localName} help={texts.localNameHelp} />
          <CheckSetting path="smtp.tls" label={texts.tls} help={texts.tlsHelp} />
        </div>
      )}
    </>
  )
}

function Limits(): ReactNode {
  const { list } = useCollections()
  const { value: isOn } = useDraftValue('rateLimits.enabled')
  const actions = ['list', 'view', 'create', 'update', 'delete', 'auth']
  const labels = [
    '*:auth',
    '*:create',
    '/api/',
    '/api/batch',
    ...list.filter(({ system }) => !system).flatMap(({ name }) => actions.map((action) => `${name}:${action}`)),
  ]
  return (
    <>
      <CheckSetting path="rateLimits.enabled" label={texts.limitRequests} help={texts.limitHelp} />
      {isOn === true && <RateLimits labels={labels} />}
      {isOn === true && <ListSetting path="rateLimits.excludedIPs" label={texts.excluded} help={texts.networkHelp} />}
    </>
  )
}

function Addresses({ own, header }: { readonly own: string; readonly header: string }): ReactNode {
  return (
    <>
      <p role="status">
        {texts.ownAddress(own)} {header !== '' && texts.proxyHeader(header)}
      </p>
      <ListSetting
        path="trustedProxy.headers"
        label={texts.proxyHeaders}
        help={texts.proxyHeadersHelp}
        placeholder="X-Forwarded-For"
      />
      <CheckSetting path="trustedProxy.useLeftmostIP" label={texts.leftmost} help={texts.leftmostHelp} />
      <ListSetting path="superuserIPs" label={texts.superuserAddresses} help={texts.superuserAddressesHelp} />
    </>
  )
}

function Batch(): ReactNode {
  return (
    <>
      <CheckSetting path="batch.enabled" label={texts.allowBatch} help={texts.allowBatchHelp} />
      <div className="settings-columns">
        <NumberSetting path="batch.maxRequests" label={texts.batchRequests} />
        <NumberSetting path="batch.timeout" label={texts.batchTimeout} />
        <NumberSetting path="batch.maxBodySize" label={texts.batchBytes} help={texts.batchBytesHelp} />
      </div>
    </>
  )
}

function Logs(): ReactNode {
  return (
    <>
      <div className="settings-columns">
        <NumberSetting path="logs.maxDays" label={texts.maxDays} help={texts.maxDaysHelp} />
        <ChoiceSetting
          path="logs.minLevel"
          label={texts.minLevel}
          options={[
            [-4, OPERATIONS.logs.levels.debug],
            [0, OPERATIONS.logs.levels.info],
            [4, OPERATIONS.logs.levels.warning],
            [8, OPERATIONS.logs.levels.error],
          ]}
        />
      </div>
      <CheckSetting path="logs.logIP" label={texts.logAddresses} />
      <CheckSetting path="logs.logAuthId" label={texts.logAccounts} />
    </>
  )
}

function isList(value: unknown): value is readonly string[] {
  return Array.isArray(value)
}
