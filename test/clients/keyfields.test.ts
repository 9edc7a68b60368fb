/** Compares the fields of an access key with what the clients offer, so that a new field is offered or left out on purpose. */
import { expect, test } from 'vitest'
import { keysCreate } from '../../clients/cli/src/commands/keys/create.ts'
import { emptyForm, keyOf } from '../../clients/console/src/pages/newkey/form.ts'
import { fieldOf } from '../../clients/console/src/pages/newkey/validate.ts'
import { spec } from '../../lib/keys/ownedaccesskey.schema.ts'
import { eachKeyText, keyTexts } from '../../lib/keys/ownedaccesskey.texts.ts'

/** The service writes them, they have a command of their own, or they are deprecated. */
const left = [
  'key',
  'dropAddedScopes',
  'disabled',
  'type',
  'identity',
  'identityRefresh',
  'oidcProvider',
  'parent',
  'oidcLogin',
]
const offered = Object.keys(spec.properties).filter((name) => !left.includes(name))

test('the console has a place in its form for every field', () => {
  for (const name of offered) expect([name, fieldOf(`spec.${name}`, emptyForm)]).toEqual([name, expect.any(String)])
})

test('the command line has an option for every field', () => {
  /** Those with another name than the field. */
  const options: Record<string, string> = {
    ...Object.fromEntries(keyTexts.map(({ name, option }) => [name, option])),
    groups: 'group',
    ttlAfterLastActivity: 'ttl-after-last-activity',
    scope: 'project',
    sourceCIDRs: 'from',
  }
  expect(Object.keys(keysCreate.options)).toEqual(expect.arrayContaining(offered.map((name) => options[name] ?? name)))
})

test('every free text is in the object of the form, without the spaces around it', () => {
  const form = { ...emptyForm, ...eachKeyText(({ name }) => ` a ${name} `) }
  expect(keyOf(form).spec).toMatchObject(eachKeyText(({ name }) => `a ${name}`))
})
