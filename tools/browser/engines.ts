/** The three browser engines that tests and measurements run in: where their programs are, and how they are started. */
import { existsSync, globSync, writeFileSync, mkdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'

export type Engine = 'chromium' | 'firefox' | 'webkit'

export const ENGINES: readonly Engine[] = ['chromium', 'firefox', 'webkit']

export interface EngineOptions {
  /** Where the browser keeps what it stores. */
  readonly profileDir: string
  /** Listens to be driven from outside; WebKit is driven without. */
  readonly remote: boolean
  /** Nothing is stored for good. A Chromium that listens has private contexts for that instead. */
  readonly privateMode?: boolean
  /** Quota of an origin. Firefox only: Chromium gets it over its protocol, WebKit has no such setting. */
  readonly quotaBytes?: number
  /** Chromium only: features to enable that are off by default. */
  readonly features?: readonly string[]
}

export interface Command {
  readonly program: string
  readonly parameters: readonly string[]
  readonly environment: NodeJS.ProcessEnv
  /** Needs an X display. */
  readonly display: boolean
}

/** Names of the Debian packages that this machine lacks to run `engine`. */
export function missingPackages(engine: Engine): readonly string[] {
  const missing: string[] = []
  if (engine === 'chromium' && findProgram('chromium') === undefined) missing.push('chromium')
  if (engine === 'firefox' && findProgram('firefox-esr') === undefined) missing.push('firefox-esr')
  if (engine === 'webkit') {
    if (findMiniBrowser() === undefined) missing.push('webkit2gtk-driver')
    if (findProgram('Xvfb') === undefined) missing.push('xvfb')
  }
  return missing
}

export function commandOf(engine: Engine, options: EngineOptions, url: string): Command {
  mkdirSync(options.profileDir, { recursive: true })
  if (engine === 'chromium') return chromiumCommand(options, url)
  if (engine === 'firefox') return firefoxCommand(options, url)
  return webkitCommand(options, url)
}

function findMiniBrowser(): string | undefined {
  return globSync('/usr/{lib,libexec}{/*,}/webkit2gtk-*/MiniBrowser').sort().at(-1)
}

export function findProgram(name: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path))
}

function needProgram(path: string | undefined, name: string): string {
  if (path === undefined) throw new Error(`${name} is not installed.`)
  return path
}

function chromiumCommand({ profileDir, remote, privateMode, features = [] }: EngineOptions, url: string): Command {
  const parameters = [
    '--headless=new',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--no-default-browser-check',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--disable-default-apps',
    '--disable-breakpad',
    // Tabs in the background are as fast as the one in front, so that no test waits for a throttled timer.
    '--disable-background-timer-throttling',
    '--disable-backgrounding-occluded-windows',
    '--disable-renderer-backgrounding',
    '--password-store=basic',
    `--user-data-dir=${profileDir}`,
    ...(features.length > 0 ? [`--enable-features=${features.join(',')}`] : []),
    ...(remote ? ['--remote-debugging-port=0'] : privateMode === true ? ['--incognito'] : []),
    url,
  ]
  return {
    program: needProgram(findProgram('chromium'), 'chromium'),
    parameters,
    environment: environmentFor(profileDir),
    display: false,
  }
}

/** Keeps Firefox from asking, reporting and updating, and from slowing down tabs in the background. */
const FIREFOX_PREFERENCES: Readonly<Record<string, boolean | number | string>> = {
  'app.normandy.enabled': false,
  'app.update.disabledForTesting': true,
  'browser.aboutwelcome.enabled': false,
  'browser.ml.enable': false,
  'browser.newtabpage.enabled': false,
  'browser.region.update.enabled': false,
  'browser.safebrowsing.downloads.enabled': false,
  'browser.safebrowsing.malware.enabled': false,
  'browser.safebrowsing.phishing.enabled': false,
  'browser.sessionstore.resume_from_crash': false,
  'browser.shell.checkDefaultBrowser': false,
  'browser.startup.homepage_override.mstone': 'ignore',
  'browser.startup.page': 0,
  'browser.tabs.warnOnClose': false,
  'browser.tabs.unloadOnLowMemory': false,
  'browser.topsites.contile.enabled': false,
  'browser.translations.enable': false,
  'datareporting.healthreport.uploadEnabled': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'datareporting.policy.dataSubmissionPolicyBypassNotification': true,
  'dom.allow_scripts_to_close_windows': true,
  'dom.disable_open_during_load': false,
  'dom.ipc.reportProcessHangs': false,
  'dom.max_script_run_time': 0,
  'dom.min_background_timeout_value': 4,
  'dom.min_background_timeout_value_without_budget_throttling': 4,
  'dom.timeout.enable_budget_timer_throttling': false,
  'extensions.enabledScopes': 0,
  'extensions.getAddons.cache.enabled': false,
  'extensions.screenshots.disabled': true,
  'extensions.update.enabled': false,
  'media.gmp-manager.updateEnabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'network.dns.disablePrefetch': true,
  'network.manage-offline-status': false,
  'services.settings.server': 'data:,',
  'toolkit.cosmeticAnimations.enabled': false,
  'toolkit.startup.max_resumed_crashes': -1,
  'toolkit.telemetry.enabled': false,
  'toolkit.telemetry.reportingpolicy.firstRun': false,
  'trailhead.firstrun.didSeeAboutWelcome': true,
}

function firefoxCommand({ profileDir, remote, privateMode, quotaBytes }: EngineOptions, url: string): Command {
  const preferences = {
    ...FIREFOX_PREFERENCES,
    ...(privateMode === true ? { 'browser.privatebrowsing.autostart': true } : {}),
    // Who drives it opens tab after tab: the process of one that was closed serves the next, which takes half the time.
    ...(remote ? { 'dom.ipc.processReuse.unusedGraceMs': 60_000 } : {}),
    ...(quotaBytes !== undefined
      ? { 'dom.quotaManager.temporaryStorage.fixedLimit': Math.ceil(quotaBytes / 1024) }
      : {}),
  }
  const lines = Object.entries(preferences).map(
    ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});`,
  )
  writeFileSync(join(profileDir, 'user.js'), `${lines.join('\n')}\n`)
  return {
    program: needProgram(findProgram('firefox-esr'), 'firefox-esr'),
    parameters: [
      '--headless',
      '--no-remote',
      '--profile',
      profileDir,
      ...(remote ? ['--remote-debugging-port=0'] : []),
      url,
    ],
    environment: { ...environmentFor(profileDir), MOZ_CRASHREPORTER_DISABLE: '1', MOZ_DATA_REPORTING: '0' },
    display: false,
  }
}

function webkitCommand({ profileDir, privateMode }: EngineOptions, url: string): Command {
  return {
    program: needProgram(findMiniBrowser(), 'MiniBrowser'),
    // A page that was left is gone, not put aside for the way back.
    parameters: ['--enable-page-cache=FALSE', ...(privateMode === true ? ['--private'] : []), url],
    environment: {
      ...environmentFor(profileDir),
      GSETTINGS_BACKEND: 'memory',
      LIBGL_ALWAYS_SOFTWARE: '1',
      NO_AT_BRIDGE: '1',
      WEBKIT_DISABLE_DMABUF_RENDERER: '1',
    },
    display: true,
  }
}

/** Everything a browser writes goes below its profile, and nothing of ours to a proxy. */
function environmentFor(profileDir: string): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !/_proxy$|^(NODE_|npm_|DBUS_)/i.test(name))
  return {
    ...Object.fromEntries(inherited),
    HOME: profileDir,
    XDG_CACHE_HOME: join(profileDir, 'cache'),
    XDG_CONFIG_HOME: join(profileDir, 'config'),
    XDG_DATA_HOME: join(profileDir, 'data'),
  }
}
