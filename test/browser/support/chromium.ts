/** Finds and starts the Chromium of this machine. Nothing is downloaded. */
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'

/**
 * The programs on `PATH` that are tried, in this order. The first one is the same Chromium without the windows of a desktop, which take
 * almost half of the CPU time of the tests.
 */
const PROGRAMS = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']

export const NO_BROWSER = `No browser is found: the console is not tested. Install Chromium (Debian: apt-get install chromium-headless-shell; Ubuntu: apt-get install chromium), or set CHROMIUM to the path of a Chromium or Chrome.`

/** Returns the path of the browser, from CHROMIUM or `PATH`. */
export function findBrowser({ CHROMIUM, PATH = '' }: NodeJS.ProcessEnv): string | undefined {
  if (CHROMIUM) return isProgram(CHROMIUM) ? CHROMIUM : undefined
  const folders = PATH.split(delimiter).filter((folder) => folder !== '')
  return PROGRAMS.flatMap((name) => folders.map((folder) => join(folder, name))).find(isProgram)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/**
 * What is off: all that Playwright turns off, which this list replaces, and the popups of the address bar. Each window had two of them,
 * pages in a process of their own, and they took more CPU time than the pages of the tests.
 */
const OFF = [
  'AimEnabled',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxPopup',
]

/** Starts a browser that finds no host but this machine. `login.test` is the identity provider of test/support/oidcprovider.ts. */
export async function launchBrowser(): Promise<Browser> {
  const executablePath = findBrowser(process.env)
  if (executablePath === undefined) throw new Error(NO_BROWSER)
  return await chromium.launch({
    executablePath,
    args: [
      // No renderer in advance, of which a context that lives for one test needs none.
      '--renderer-process-limit=1',
      `--disable-features=${OFF}`,
      '--host-resolver-rules=MAP login.test 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
      // Scroll bars take space on some systems only, and screenshots shall not depend on it.
      '--hide-scrollbars',
      '--font-render-hinting=none',
    ],
    env: { ...process.env, FONTCONFIG_FILE: join(import.meta.dirname, 'fonts.conf') },
    // Chromium has no sandbox for root.
    chromiumSandbox: process.getuid?.() !== 0,
  })
}
