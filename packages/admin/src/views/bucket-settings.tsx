/** A place for files that speaks S3, with a test of it. */
import type { ReactNode } from 'react'
import { testBucket } from '../api/settings.ts'
import { Button } from '../parts/button.tsx'
import { showDone } from '../parts/toasts.tsx'
import { OPERATIONS } from '../texts/operations.ts'
import { CheckSetting, SecretSetting, TextSetting, useDraftValue } from './settings-form.tsx'

const { settings: texts } = OPERATIONS

interface BucketSettingsProps {
  readonly path: 's3' | 'backups.s3'
  readonly label: string
  readonly help: string
  /** True if the settings are stored: a test asks about stored ones. */
  readonly isSaved: boolean
}

export function BucketSettings({ path, label, help, isSaved }: BucketSettingsProps): ReactNode {
  const { value: isOn } = useDraftValue(`${path}.enabled`)
  const test = async (): Promise<void> => {
    await testBucket(path === 's3' ? 'storage' : 'backups')
    showDone(texts.bucketWorks)
  }
  return (
    <>
      <CheckSetting path={`${path}.enabled`} label={label} help={help} />
      {isOn === true && (
        <div className="settings-columns">
          <TextSetting path={`${path}.endpoint`} label={texts.endpoint} placeholder="https://s3.example.com" />
          <TextSetting path={`${path}.bucket`} label={texts.bucket} />
          <TextSetting path={`${path}.region`} label={texts.region} placeholder="eu-central-1" />
          <TextSetting path={`${path}.accessKey`} label={texts.accessKey} />
          <SecretSetting path={`${path}.secret`} label={texts.secretKey} />
          <CheckSetting path={`${path}.forcePathStyle`} label={texts.pathStyle} help={texts.pathStyleHelp} />
        </div>
      )}
      {isOn === true && (
        <div>
          <Button icon="check" disabled={!isSaved} onPress={test}>
            {texts.testBucket}
          </Button>
          {!isSaved && <p className="field-help">{texts.saveFirst}</p>}
        </div>
      )}
    </>
  )
}
