/**
 * Every setting of a deployment. The parameters of the CloudFormation template, the environment of functions, the checks of
 * `npm run deploy` and docs/settings.md are made from this table.
 */
import { access, account } from './account.ts'
import { behaviour, consoles, leaks, spaces } from './functions.ts'
import { lifetimes, limits, watches } from './limits.ts'
import { address, operation } from './operation.ts'
import type { Group, Setting } from './setting.ts'

export const groups: readonly Group[] = [
  address,
  lifetimes,
  spaces,
  behaviour,
  watches,
  limits,
  leaks,
  operation,
  access,
  account,
  consoles,
]

/** The settings by name. */
export const settings: ReadonlyMap<string, Setting> = new Map(
  groups.flatMap((group) => Object.entries<Setting>(group.settings)),
)
