/** Virtual clusters, connected clusters and "Access check": kube configs that a real kubectl uses, what is refused, and answers that the requests themselves confirm. */
import { spawnSync } from 'node:child_process'
import { appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { buildCommandLine } from '../../clients/cli/build.ts'
import { cluster } from '../support/objects.ts'
import { type Ran, runProgram } from '../support/programs.ts'
import { axeProblems } from './support/axe.ts'
import { clipboardText, consoleOf, goTo, loaded, test as plain, signIn } from './support/browser.ts'
import { failRequests, holdRequests, statusOf } from './support/faults.ts'
import { HOSTILE } from './support/hostile.ts'
import { hasFocus, press, tabTo } from './support/keyboard.ts'
import { changeKey, makeKey } from './support/keys.ts'

const GROUP = '/apis/management.platform/v1'
const MINUTE = 60_000
const DEMO = 'namespaces/p-demo/virtualclusterinstances/demo/kubeconfig'

/** With a folder of the person who uses the browser. */
// biome-ignore lint/correctness/noEmptyPattern: Vitest reads what a fixture needs from its pattern.
const test = plain.extend('home', async ({}, { onCleanup }) => {
  const folder = await mkdtemp(join(tmpdir(), 'keyplane-places-'))
  onCleanup(() => rm(folder, { recursive: true, force: true }))
  return folder
})

const folders = (home: string): string =>
  [join(home, 'bin'), process.env.KUBEBUILDER_ASSETS, process.env.PATH].filter(Boolean).join(delimiter)
const program = (home: string, command: string, args: string[], env: NodeJS.ProcessEnv = {}): Promise<Ran> =>
  runProgram(command, args, { cwd: home, env: { HOME: home, PATH: folders(home), ...env } })

const hasKubectl = spawnSync('kubectl', ['version', '--client'], { env: { PATH: folders('/') } }).status === 0
if (!hasKubectl)
  process.stderr.write('not run, no kubectl on PATH or in KUBEBUILDER_ASSETS: the kube configs of the console\n')
const describeKubectl = describe.skipIf(!hasKubectl)

/** Puts the command line on the PATH of the person. */
async function installCommandLine(home: string): Promise<void> {
  await mkdir(join(home, 'bin'))
  await buildCommandLine(join(home, 'keyplane.mjs'))
  const script = `#!/bin/sh\nexec '${process.execPath}' '${join(home, 'keyplane.mjs')}' "$@"\n`
  await writeFile(join(home, 'bin/keyplane'), script, { mode: 0o700 })
}
const claimsOf = (token = '') => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
const pods = { code: 0, stdout: expect.stringMatching(/^NAME .*\nhello-0 /), stderr: '' }

const dialog = (page: Page) => page.getByRole('dialog')
const visit = async (page: Page, key: string, name: 'Virtual clusters' | 'Clusters' | 'Access check') => {
  await signIn(page, key)
  await press(page.getByRole('navigation').getByRole('link', { name, exact: true }))
}
/** The part of a cluster's page that hands out kube configs. */
const config = (page: Page) => page.getByRole('region', { name: 'Kube config', exact: true })
/** Opens the page of the demo cluster. */
const openDemo = async (page: Page, key: string) => {
  await visit(page, key, 'Virtual clusters')
  await press(page.getByRole('link', { name: 'demo/demo', exact: true }))
  await config(page).waitFor()
}
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
/** Downloads the file with the keyboard, and keeps it in the folder. */
const download = async (page: Page, home: string, name = 'Download'): Promise<string> => {
  const started = page.waitForEvent('download')
  await press(button(page, name))
  const file = await started
  expect(file.suggestedFilename()).toBe('demo-demo.kubeconfig')
  const path = join(home, file.suggestedFilename())
  await file.saveAs(path)
  await config(page).getByText('Downloaded demo-demo.kubeconfig.').waitFor()
  return path
}

describeKubectl('a downloaded kube config', () => {
  test('works at once, for an hour', async ({ page, server, home }) => {
    await openDemo(page, (await makeKey(server, 'user')).value)
    const file = await download(page, home)
    await config(page)
      .getByText(/Its credential expires in (59|60) minutes/)
      .waitFor()
    expect(await program(home, 'kubectl', ['--kubeconfig', file, 'get', 'pods'])).toEqual(pods)
  })

  test('works with a client certificate', async ({ page, server, home }) => {
    await openDemo(page, (await makeKey(server, 'user')).value)
    await press(config(page).getByText('A client certificate', { exact: true }))
    const file = await download(page, home, 'Download with a certificate')
    expect(await readFile(file, 'utf8')).toContain('client-key-data')
    expect(await program(home, 'kubectl', ['--kubeconfig', file, 'get', 'pods'])).toEqual(pods)
  })

  test('renews itself with curl, and says so when the key ends', async ({ page, server, home }) => {
    const key = await makeKey(server, 'user')
    await openDemo(page, key.value)
    await press(config(page).getByText('Tokens that curl fetches'))
    const path = config(page).getByLabel('File for curl, on your machine')
    await tabTo(path)
    await page.keyboard.type('/home/ME/.kube/demo.curl')
    await press(button(page, 'Download for curl'))
    await config(page).getByText('This path has a placeholder.').waitFor()
    await path.press('Control+A')
    await page.keyboard.type(join(home, 'kube folder/demo.curl'))
    const written = await config(page)
      .getByRole('region', { name: /Write the file for curl/ })
      .innerText()
    const file = await download(page, home, 'Download for curl')
    expect(await readFile(file, 'utf8')).not.toMatch(/mpk_|eyJ|client-key-data/)
    const bash = await program(home, 'bash', ['-c', `bash -c "$COMMANDS" <<< "$VALUE"`], {
      COMMANDS: written,
      VALUE: key.value,
    })
    expect(bash).toMatchObject({ code: 0 })
    await appendFile(join(home, 'kube folder/demo.curl'), `cacert = "${server.authorityFile}"\n`)
    const get = () => program(home, 'kubectl', ['--kubeconfig', file, 'get', 'pods'])
    expect([await get(), await get()]).toEqual([pods, pods])
    await changeKey(server, key.name, { disabled: true })
    expect(await get()).toMatchObject({ code: 1, stderr: expect.stringContaining('access key is disabled') })
  })

  test('is for daily use what the command line merges', async ({ page, server, home }) => {
    const key = await makeKey(server, 'user')
    await openDemo(page, key.value)
    const merge = await config(page).getByRole('region', { name: 'For daily use' }).innerText()
    const login = await config(page).getByText('keyplane login').innerText()
    await installCommandLine(home)
    const env = { KEYPLANE_KEY: key.value, AUTHORITY: server.authorityFile }
    expect(await program(home, 'bash', ['-c', `${login} --ca "$AUTHORITY"`], env)).toMatchObject({ code: 0 })
    expect(await program(home, 'bash', ['-c', merge])).toMatchObject({ code: 0 })
    expect(await program(home, 'kubectl', ['get', 'pods'])).toEqual(pods)
  })
})

describe('the page of virtual clusters', () => {
  test('copies a kube config, and keeps none of it', async ({ page, server, guards }) => {
    await openDemo(page, server.adminKey)
    await press(button(page, 'Copy the kube config'))
    await config(page).getByText('Copied.').waitFor()
    expect(await clipboardText(page)).toMatch(/^apiVersion: v1\n[\s\S]*token: eyJ/)
    expect(await guards.finish()).toEqual([])
  })

  test('shows a scoped key what its scope names, and asks for another project', async ({ page, server }) => {
    await visit(
      page,
      (await makeKey(server, 'scoped', { scope: { projects: [{ project: 'demo' }] } })).value,
      'Virtual clusters',
    )
    await page.getByText('You see those of: project demo.').waitFor()
    await page.getByRole('link', { name: 'demo/demo', exact: true }).waitFor()
    await tabTo(page.getByLabel('Show another project'))
    await page.keyboard.type('other')
    await page.keyboard.press('Enter')
    await page.getByText('p-other cannot be shown.').waitFor()
    await expect.poll(() => new URL(page.url()).hash).toBe('#/virtual-clusters?project=other')
    await page.goBack()
    await page.getByText('p-other cannot be shown.').waitFor({ state: 'detached' })
  })

  test('says why a certificate is refused, and what to choose instead', async ({ page, server }) => {
    const scope = { rules: [{ verbs: ['get', 'list', 'create'] }] }
    await openDemo(page, (await makeKey(server, 'restricted', { scope })).value)
    await press(config(page).getByText('A client certificate', { exact: true }))
    await press(button(page, 'Download with a certificate'))
    const alert = config(page).getByRole('alert')
    await expect.poll(() => alert.innerText()).toMatch(/a client certificate cannot be scoped[\s\S]*Choose a token/)
  })

  test('says what it waits for, and what failed', async ({ page, server }) => {
    await openDemo(page, server.adminKey)
    const release = await holdRequests(page, DEMO)
    await press(config(page).getByText('A client certificate', { exact: true }))
    await press(button(page, 'Download with a certificate'))
    await config(page).getByText('The virtual cluster is signing the certificate.').waitFor()
    const started = page.waitForEvent('download')
    await release()
    await started
    await failRequests(page, DEMO, statusOf(504, 'Timeout', 'the virtual cluster did not answer in time'))
    await press(button(page, 'Download'))
    await expect
      .poll(() => config(page).getByRole('alert').innerText())
      .toMatch(/did not answer in time[\s\S]*may be starting/)
  })

  test('hands out nothing for a choice that was changed while the server worked', async ({ page, server }) => {
    await openDemo(page, server.adminKey)
    const release = await holdRequests(page, DEMO)
    const [asked, ended] = [page.waitForRequest(/kubeconfig$/), page.waitForEvent('requestfailed')]
    await press(button(page, 'Download'))
    await asked
    await config(page).getByLabel('Lifetime').selectOption('8 hours')
    await ended
    // The page has drawn what it does about a request that it has given up: nothing.
    await page.evaluate(() => new Promise(requestAnimationFrame))
    expect(await config(page).getByRole('alert').count()).toBe(0)
    const [file] = await Promise.all([page.waitForEvent('download'), release(), press(button(page, 'Download'))])
    const [, token = ''] = /token: (\S+)/.exec(await readFile(await file.path(), 'utf8')) ?? []
    const { exp, iat } = claimsOf(token)
    expect(exp - iat).toBe(8 * 3600)
  })

  test('shows hostile texts as texts, on a small screen too', async ({ openPage, server }) => {
    const path = `${GROUP}/namespaces/p-hostile/virtualclusterinstances`
    const make = (name: string, displayName: string) =>
      server.call(path, {
        method: 'POST',
        body: {
          apiVersion: 'management.platform/v1',
          kind: 'VirtualClusterInstance',
          metadata: { name, namespace: 'p-hostile' },
          spec: { displayName, owner: { user: 'alice' } },
        },
      })
    for (const [kind, text] of Object.entries(HOSTILE))
      expect([kind, (await make(kind, text)).status]).toEqual([kind, 201])
    const page = await openPage({ path: '#/virtual-clusters', width: 390, height: 844 })
    await signIn(page, server.adminKey)
    await page.getByText(HOSTILE.markup).waitFor()
    await page.getByText('gnp.\\u{202e}exe').waitFor()
    await page.getByLabel('Filter Virtual clusters').fill('hostile/dir')
    await page.getByText('1 of').waitFor()
    expect(await page.getByRole('row').getByRole('link').allInnerTexts()).toEqual(['hostile/direction'])
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  })
})

describe('the page of connected clusters', () => {
  const EU = `${GROUP}/clusters/eu`
  const withEu = test.extend('eu', { auto: true }, async ({ server }, { onCleanup }) => {
    const access = [
      { verbs: ['get', 'list', 'watch', 'use'], users: ['alice'] },
      { verbs: ['get', 'list', 'watch'], users: ['bob'] },
    ]
    const { status } = await server.call(`${GROUP}/clusters`, { method: 'POST', body: cluster('eu', { access }) })
    expect(status).toBe(201)
    onCleanup(async () => void (await server.call(EU, { method: 'DELETE' })))
  })

  test('tells an administrator the commands that connect one, and others whom to ask', async ({
    page,
    server,
    openPage,
  }) => {
    await visit(page, server.adminKey, 'Virtual clusters')
    await press(button(page, 'Connect'))
    for (const [label, text] of [
      ['Project', 'shop'],
      ['Name', 'dev'],
      ['Team that owns it', 'shop'],
      ['Its kube config, on your machine', '~/dev'],
    ] as const) {
      await tabTo(dialog(page).getByLabel(label, { exact: true }))
      await page.keyboard.type(text)
    }
    const commands = await dialog(page).getByRole('region', { name: 'Run it where' }).innerText()
    expect(commands).toMatch(/^of\(\) \{ kubectl --kubeconfig ~\/dev [\s\S]*--for vcluster\n$/)
    expect(await axeProblems(page)).toEqual([])
    await page.keyboard.press('Escape')
    await press(page.getByRole('navigation').getByRole('link', { name: 'Clusters', exact: true }))
    await page.getByRole('heading', { name: 'No connected clusters yet' }).waitFor()
    await press(button(page, 'Connect'))
    await tabTo(dialog(page).getByLabel('How'))
    await page.keyboard.type('Amazon')
    await tabTo(dialog(page).getByLabel('Name', { exact: true }))
    await page.keyboard.type('eu')
    await tabTo(dialog(page).getByLabel('Region'))
    await page.keyboard.type("eu-west-1'; x")
    expect(await dialog(page).getByRole('region', { name: 'Run it where' }).innerText()).toBe(
      `keyplane clusters connect eu --from-kubeconfig ~/.kube/config --eks eu --region 'eu-west-1'\\''; x'\n`,
    )
    expect(await axeProblems(page)).toEqual([])
    await page.keyboard.press('Escape')
    await expect.poll(() => hasFocus(button(page, 'Connect'))).toBe(true)
    const other = await openPage({ width: 320, height: 700 })
    await visit(other, (await makeKey(server, 'unknowing')).value, 'Clusters')
    await other.getByText('Ask an administrator of keyplane.').waitFor()
    expect(await button(other, 'Connect').count()).toBe(0)
  })

  withEu('makes a kube config, and keeps none of it', async ({ page, server, guards }) => {
    await visit(page, (await makeKey(server, 'of-alice')).value, 'Clusters')
    await press(page.getByRole('link', { name: 'eu', exact: true }))
    await page.getByText('administrators, user alice', { exact: true }).waitFor()
    await page.getByText("The cluster's own RBAC decides").waitFor()
    await tabTo(config(page).getByLabel('Lifetime'))
    await page.keyboard.type('8 hours')
    expect(await config(page).getByRole('region', { name: 'For daily use' }).innerText()).toBe(
      'keyplane kubeconfig --cluster eu --merge\n',
    )
    expect(await config(page).getByText('A client certificate').count()).toBe(0)
    await press(button(page, 'Copy the kube config'))
    await config(page).getByText('Copied.').waitFor()
    const text = await clipboardText(page)
    expect(text).toMatch(/server: "?https:\/\/eu\.example\.com/)
    const { aud, exp, iat } = claimsOf(/token: "?(eyJ[^"\s]+)/.exec(text)?.[1])
    expect([aud, exp - iat]).toEqual([[expect.stringMatching(/\/clusters\/eu$/)], 8 * 3600])
    const [file] = await Promise.all([page.waitForEvent('download'), press(button(page, 'Download'))])
    expect(file.suggestedFilename()).toBe('eu.kubeconfig')
    expect(await axeProblems(page)).toEqual([])
    expect(await guards.finish()).toEqual([])
  })

  withEu('says why a person who sees it may not use it', async ({ page, server }) => {
    await visit(page, (await makeKey(server, 'of-bob', { user: 'bob' })).value, 'Clusters')
    await page.getByText('You may not use it').waitFor()
    await press(page.getByRole('link', { name: 'eu', exact: true }))
    await press(page.getByRole('link', { name: 'Why?' }))
    await page.getByText('spec.access of the cluster does not allow it').waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: 'State' }).waitFor()
    expect(await config(page).count()).toBe(0)
  })

  withEu('shows a scoped key what its scope names, and asks for another one', async ({ page, server }) => {
    const scope = { clusters: [{ cluster: 'eu' }] }
    await visit(page, (await makeKey(server, 'only-eu', { scope })).value, 'Clusters')
    await page.getByText('You see those of: eu.').waitFor()
    await tabTo(page.getByLabel('Show another cluster'))
    await page.keyboard.type('us\u202E')
    await page.keyboard.press('Enter')
    await page.getByText('us\\u{202e} cannot be shown.').waitFor()
    await expect.poll(() => new URL(page.url()).hash).toBe('#/clusters?cluster=us%E2%80%AE')
    await press(page.getByRole('link', { name: 'eu', exact: true }))
    await page.getByRole('heading', { name: 'Your access key may not list keys' }).waitFor()
  })

  test('says so when a scope names none', async ({ page, server }) => {
    const scope = { projects: [{ project: 'demo' }] }
    await visit(page, (await makeKey(server, 'elsewhere', { scope })).value, 'Clusters')
    await page.getByText('Its scope does not name a cluster.').waitFor()
  })

  withEu('says who may get a token for it, and why, but not the key with which it asks', async ({ page, server }) => {
    const asking = { roles: [{ role: 'agent' }], clusters: [{ cluster: 'eu' }] }
    await makeKey(server, 'agent-of-eu', { user: 'agent-eu', scope: asking })
    await makeKey(server, 'into-eu', { scope: { clusters: [{ cluster: 'eu' }] } })
    await makeKey(server, 'into-us', { scope: { clusters: [{ cluster: 'us' }] } })
    await visit(page, server.adminKey, 'Clusters')
    await press(page.getByRole('link', { name: 'eu', exact: true }))
    const row = page.getByRole('row').filter({ hasText: 'into-eu' })
    await row.getByText('its scope names the cluster').waitFor()
    await page.getByText(/^The cluster has never asked keyplane, with agent-of-eu-/).waitFor()
    expect(
      await page
        .getByRole('row')
        .filter({ hasText: /into-us|agent-of-eu/ })
        .count(),
    ).toBe(0)
    await press(page.getByRole('button', { name: 'Read the last use there' }))
    await row.getByText('none recorded').waitFor()
    expect(await axeProblems(page)).toEqual([])
  })

  withEu(
    'changes who may use it, keeps whom it only shows, and is disconnected by its name',
    async ({ page, server }) => {
      await visit(page, server.adminKey, 'Clusters')
      await press(page.getByRole('link', { name: 'eu', exact: true }))
      await press(button(page, 'Edit access'))
      const teams = dialog(page).getByLabel('Teams')
      await teams.fill(server.adminKey)
      await press(button(page, 'Save'))
      await dialog(page).getByText('This looks like a secret value. Enter a name.').waitFor()
      await teams.fill('')
      await tabTo(teams)
      await page.keyboard.type('shop, platform')
      await page.keyboard.press('Enter')
      await page.getByText('administrators, team shop, team platform, user alice').waitFor()
      const { json } = await server.call(EU)
      expect(json.spec.access).toEqual([
        { verbs: ['get', 'list', 'watch'], users: ['bob'] },
        { verbs: ['get', 'list', 'watch', 'use'], teams: ['shop', 'platform'], users: ['alice'] },
      ])
      await press(button(page, 'Disconnect'))
      await tabTo(dialog(page).getByLabel('Type eu to confirm'))
      await page.keyboard.type('eu')
      await page.keyboard.press('Enter')
      await page.getByText('eu was deleted.').waitFor()
      await page.getByRole('heading', { name: 'No connected clusters yet' }).waitFor()
    },
  )
})

describe('Access check', () => {
  const answer = (page: Page) => page.getByRole('article')
  const verdict = async (page: Page) => {
    await answer(page).getByRole('heading', { level: 2 }).waitFor()
    return (await answer(page).getByRole('heading', { level: 2 }).innerText()).startsWith('Allowed')
  }

  test('answers what the request itself then gets', async ({ page, server }) => {
    const scope = { projects: [{ project: 'demo' }] }
    const key = await makeKey(server, 'asked', { scope })
    const pairs: [query: string, method: string, path: string, body?: object][] = [
      ['verb=list&resource=vci&namespace=p-demo', 'GET', 'namespaces/p-demo/virtualclusterinstances'],
      ['verb=list&resource=vci', 'GET', 'virtualclusterinstances'],
      ['verb=get&resource=vci&namespace=p-demo&name=demo', 'GET', 'namespaces/p-demo/virtualclusterinstances/demo'],
      ['verb=get&resource=vci&namespace=p-other&name=x', 'GET', 'namespaces/p-other/virtualclusterinstances/x'],
      [
        'verb=create&resource=vci/kubeconfig&namespace=p-demo&name=demo',
        'POST',
        DEMO,
        { spec: { certificateTTL: 600 } },
      ],
      ['verb=list&resource=ownedaccesskeys.management.platform', 'GET', 'ownedaccesskeys'],
      ['verb=create&resource=selves', 'POST', 'selves', {}],
    ]
    await signIn(page, server.adminKey)
    const answers: [string, boolean][] = []
    const real: [string, boolean][] = []
    for (const [query, method, path, body] of pairs) {
      await goTo(page, `#/may-it?key=${key.name}&${query}`)
      const heading = answer(page).getByRole('heading', { level: 2 })
      const { verb = '', resource = '' } = Object.fromEntries(new URLSearchParams(query))
      await heading.filter({ hasText: `${verb} ${resource}` }).waitFor()
      await loaded(page)
      answers.push([query, await verdict(page)])
      const { status } = await server.call(`${GROUP}/${path}`, { method, token: key.value, ...(body && { body }) })
      real.push([query, status < 300])
    }
    expect(answers).toEqual(real)
    expect(new Set(real.map(([, allowed]) => allowed)).size).toBe(2)
  })

  test('is asked with the keyboard, and its answer is an address', async ({ page, server, openPage }) => {
    const key = await makeKey(server, 'keyboard', { scope: { projects: [{ project: 'demo' }] } })
    await visit(page, server.adminKey, 'Access check')
    await tabTo(page.getByLabel('May the key'))
    await page.keyboard.press('Control+A')
    await page.keyboard.type(key.name)
    await tabTo(page.getByLabel('do', { exact: true }))
    await page.keyboard.type('list')
    await tabTo(page.getByLabel('on the resource, or path'))
    await page.keyboard.type('podz')
    await page.keyboard.press('Enter')
    await page.getByText('This API has no resource "podz".').waitFor()
    await expect.poll(() => hasFocus(page.getByLabel('on the resource, or path'))).toBe(true)
    await page.keyboard.press('Control+A')
    await page.keyboard.type('vci')
    await page.keyboard.press('Enter')
    expect(await verdict(page)).toBe(false)
    await expect.poll(() => hasFocus(answer(page).getByRole('heading', { level: 2 }))).toBe(true)
    const address = page.url()
    await page.goBack()
    await page.getByText('This API has no resource "podz".').waitFor()
    expect(await page.getByLabel('on the resource, or path').inputValue()).toBe('podz')

    const other = await openPage({ path: new URL(address).hash, width: 390, height: 844 })
    await signIn(other, server.adminKey)
    expect(await verdict(other)).toBe(false)
    expect(await other.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  })

  test('shows no answer to the question before', async ({ page, server }) => {
    await signIn(page, server.adminKey)
    await goTo(page, '#/may-it?verb=list&resource=vci')
    expect(await verdict(page)).toBe(true)
    const release = await holdRequests(page, 'ownedaccesskeys/[^/]+/accessreview')
    await goTo(page, '#/may-it?verb=list&resource=ownedaccesskeys')
    await page.getByText('Asking…').waitFor()
    expect(await answer(page).count()).toBe(0)
    release()
    await answer(page).getByRole('heading', { name: 'list ownedaccesskeys' }).waitFor()
    await goTo(page, '#/may-it')
    await answer(page).waitFor({ state: 'detached' })
  })

  test('never has the value of a key in its address', async ({ page, server, guards }) => {
    await visit(page, server.adminKey, 'Access check')
    const key = page.getByLabel('May the key')
    await key.fill(server.adminKey)
    await page.getByLabel('do', { exact: true }).fill('list')
    await page.getByLabel('on the resource, or path').fill('vci')
    await page.keyboard.press('Enter')
    await page.getByText('This looks like a secret value. Enter a name.').waitFor()
    await expect.poll(() => hasFocus(key)).toBe(true)
    await key.fill('')
    expect(await guards.finish()).toEqual([])
  })

  test('asks only what the form shows', async ({ page, server, guards }) => {
    await visit(page, server.adminKey, 'Access check')
    await page.getByLabel('from the address').fill('nowhere')
    await page.getByLabel('do', { exact: true }).fill('list')
    await page.getByLabel('on the resource, or path').fill('pods')
    await page.getByLabel('at', { exact: true }).selectOption('a connected cluster')
    await page.getByLabel('Connected cluster').fill('west')
    await page.keyboard.press('Enter')
    await answer(page).getByText('The cluster has the last word.').waitFor()
    expect(new URL(page.url()).hash).not.toContain('nowhere')
    expect(await guards.finish()).toEqual([])
  })

  test('keeps its answer while the names of keys and resources are read again', async ({
    openPage,
    server,
    visits,
  }) => {
    const page = await openPage({ blank: true })
    await page.clock.install()
    await page.goto(`${consoleOf(server.url)}#/may-it?verb=list&resource=vci`)
    await signIn(page, server.adminKey)
    await verdict(page)
    const reviews = () =>
      visits.guardsOf(page).requests.filter((request) => /\/accessreview$/.test(request.url())).length
    const before = reviews()
    // When the second reading is over, the page has done all that follows the first one.
    for (const _ of ['first', 'second']) {
      const read = page.waitForResponse(/\/ownedaccesskeys\?/)
      await page.clock.fastForward(6 * MINUTE)
      await (await read).finished()
    }
    expect(reviews()).toBe(before)
  })

  test('answers a key that may list neither keys nor anything else', async ({ page, server }) => {
    const key = await makeKey(server, 'asking', { scope: { rules: [{ verbs: ['get', 'create'] }] } })
    await signIn(page, key.value)
    await goTo(page, '#/may-it?verb=list&resource=vci')
    expect(await verdict(page)).toBe(false)
    await goTo(page, '#/may-it?verb=create&resource=ownedaccesskeys')
    await answer(page)
      .getByRole('heading', { name: /^Allowed/ })
      .waitFor()
  })

  test('tells nothing about keys that the person may not see', async ({ openPage, server }) => {
    const [other, own] = [await makeKey(server, 'bobs', { user: 'bob' }), await makeKey(server, 'alices')]
    const page = await openPage({ path: `#/may-it?key=${other.name}&verb=list&resource=vci` })
    await signIn(page, own.value)
    await page.getByRole('alert').getByText('You may ask about keys that you can see.').waitFor()
  })

  test('adds the entry after a dry run, and the request is allowed then', async ({ openPage, server }) => {
    const key = await makeKey(server, 'widened', { scope: { projects: [{ project: 'demo' }] } })
    const page = await openPage({ path: `#/may-it?key=${key.name}&verb=list&resource=vci` })
    await signIn(page, server.adminKey)
    expect(await verdict(page)).toBe(false)
    await press(answer(page).getByRole('button', { name: 'Add it' }))
    await dialog(page).getByText('The server would save this. Nothing is saved yet.').waitFor()
    expect(await dialog(page).getByRole('listitem').allInnerTexts()).toEqual([expect.stringMatching(/^\+ /)])
    expect(
      await dialog(page)
        .getByRole('button', { name: /^Remove entry/ })
        .count(),
    ).toBe(2)
    await press(button(page, 'Save'))
    await answer(page)
      .getByRole('heading', { name: /^Allowed/ })
      .waitFor()
    await answer(page).getByText("This entry of the key's scope allows it").waitFor()
  })
})
