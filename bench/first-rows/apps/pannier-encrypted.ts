import { deviceKey, pannierApp } from './pannier-app.ts'
import type { App } from './app.ts'

export const app: App = pannierApp(deviceKey)
