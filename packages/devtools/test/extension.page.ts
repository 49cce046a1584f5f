/** A page of an app that offers devtools, for the extension. */
import { open } from 'pannier'
import { memory } from 'pannier/memory'
import { offerDevtools } from '@pannier/devtools'

offerDevtools({ databases: [await open('shop', { storage: memory() })] })
Object.assign(globalThis, { isOffered: true })
