/** The CloudFormation template: one for every stage and all settings. */
import { metadata, parameters, rules } from '../settings/parameters.ts'
import { backup, firewall, rights } from './account.ts'
import { alarming } from './alarms.ts'
import { api } from './api.ts'
import { audit } from './audit.ts'
import { conditions } from './conditions.ts'
import { dashboard } from './dashboard.ts'
import { data } from './data.ts'
import { events } from './events.ts'
import type { Part } from './intrinsics.ts'
import { type CodeOf, lambda } from './lambda.ts'
import { type ArchiveOf, rollouts } from './rollouts.ts'
import { signingConditions, signingKeys } from './signingkeys.ts'
import { stage } from './stage.ts'

const parts: readonly Part[] = [data, signingKeys, api, stage, rights, firewall, audit, backup, alarming, dashboard]

export type StackTemplate = ReturnType<typeof stackTemplate>

/** Returns the template of functions whose archives are at a place. Resources and outputs beside it may hold the archives. */
export function stackTemplate(codeOf: CodeOf, archiveOf: ArchiveOf, beside: Part = { Resources: {} }) {
  const functions = lambda(codeOf)
  const all = [
    beside,
    { Resources: functions },
    { Resources: rollouts(functions, archiveOf) },
    { Resources: events },
    ...parts,
  ]
  return {
    Parameters: parameters,
    Metadata: metadata,
    Rules: rules,
    Conditions: { ...conditions, ...signingConditions },
    Resources: Object.assign({}, ...all.map(({ Resources }) => Resources)) as Part['Resources'],
    Outputs: Object.assign({}, ...all.map(({ Outputs }) => Outputs)) as NonNullable<Part['Outputs']>,
  }
}
