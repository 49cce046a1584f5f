/** When the server makes backups itself, how many it keeps, and where. */
import type { ReactNode } from 'react'
import { Button } from '../../parts/button.tsx'
import { OPERATIONS } from '../../texts/operations.ts'
import { BucketSettings } from '../bucket-settings.tsx'
import { NumberSetting, SettingsForm, TextSetting, useDraftValue, useSettingsDraft } from '../settings-form.tsx'

const { backups: texts } = OPERATIONS
const PATHS = ['backups']
const SCHEDULES = { daily: '0 0 * * *', weekly: '0 0 * * 0', monthly: '0 0 1 * *', never: '' } as const

export function BackupSchedule(): ReactNode {
  const settings = useSettingsDraft()
  if (settings.saved === undefined) return null
  return (
    <section className="panel" aria-labelledby="backup-schedule">
      <h2 id="backup-schedule">{texts.schedule}</h2>
      <p className="muted panel-text">{texts.scheduleText}</p>
      <SettingsForm settings={settings} paths={PATHS}>
        <Cron />
        <BucketSettings
          path="backups.s3"
          label={texts.useBucket}
          help={texts.useBucketHelp}
          isSaved={!settings.isChanged(PATHS)}
        />
      </SettingsForm>
    </section>
  )
}

function Cron(): ReactNode {
  const { onValue } = useDraftValue('backups.cron')
  return (
    <div className="settings-columns">
      <div>
        <TextSetting path="backups.cron" label={texts.cron} help={texts.cronHelp} placeholder="0 0 * * *" />
        <div className="chips">
          {Object.entries(SCHEDULES).map(([name, expression]) => (
            <Button key={name} kind="quiet" onPress={() => onValue(expression)}>
              {texts.schedules[name as keyof typeof SCHEDULES]}
            </Button>
          ))}
        </div>
      </div>
      <NumberSetting path="backups.cronMaxKeep" label={texts.keep} help={texts.keepHelp} min={1} />
    </div>
  )
}
