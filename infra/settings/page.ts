/** Writes docs/settings.md from the settings. */
import { formOf, parameterOf, type Setting } from './setting.ts'
import { groups } from './table.ts'

const INTRODUCTION = `# Settings

<!-- Made from infra/settings/: run test/infra/settings.test.ts with -u. -->

Pass a setting as \`--param NAME=VALUE\` to \`npm run deploy\`, which checks it before it deploys anything, or as the parameter of the template below its name.
Pass every setting each time: omitted ones return to their defaults. [The local server](tour.md#the-local-server) takes those that have an effect there.
`

/** Returns the page. */
export const settingsPage = (): string =>
  [INTRODUCTION, ...groups.map(({ heading, settings }) => `## ${heading}\n\n${tableOf(settings)}`)].join('\n')

const tableOf = (settings: Readonly<Record<string, Setting>>): string =>
  [
    '| setting | default | values | what it does |',
    '|---|---|---|---|',
    ...Object.entries(settings).map((entry) => rowOf(...entry)),
    '',
  ].join('\n')

function rowOf(name: string, setting: Setting): string {
  const { text, requires, excludes } = setting
  const named = (others: readonly string[]) => others.map((other) => `\`${other}\``).join(' and ')
  const together = requires && `Set it together with ${named(requires)}.`
  const apart = excludes && `It cannot be set together with ${named(excludes)}.`
  const what = [text, together, apart].filter(Boolean).join(' ')
  return `| \`${name}\`<br>${parameterOf(name)} | ${defaultOf(setting)} | ${valuesOf(setting)} | ${what} |`
}

function defaultOf(setting: Setting): string {
  if (setting.default === undefined) return setting.absent ?? 'none'
  const zero = setting.type === 'integer' && setting.default === 0 ? setting.zero : undefined
  return `\`${setting.default}\`${zero === undefined ? '' : ` = ${zero}`}`
}

const valuesOf = (setting: Setting) =>
  setting.type === 'integer' ? `${formOf(setting)} ${setting.unit}` : formOf(setting)
