/** Where the command line keeps its files, on each operating system. */
import { describe, expect, test } from 'vitest'
import { cacheFolder, configFile, stateFolder } from '../../../clients/cli/src/config/paths.ts'

const WINDOWS = { APPDATA: 'C:\\Roaming', LOCALAPPDATA: 'C:\\Local', HOME: 'C:\\Users\\a' }

describe('the files of the command line', () => {
  test.each([
    ['linux', { HOME: '/home/a' }, ['/home/a/.config', '/home/a/.cache', '/home/a/.local/state']],
    ['darwin', { HOME: '/home/a', LOCALAPPDATA: '/x' }, ['/home/a/.config', '/home/a/.cache', '/home/a/.local/state']],
    [
      'linux',
      { HOME: '/home/a', XDG_CONFIG_HOME: '/config', XDG_CACHE_HOME: '/cache', XDG_STATE_HOME: '/state' },
      ['/config', '/cache', '/state'],
    ],
    [
      'linux',
      { HOME: '/home/a', XDG_CACHE_HOME: 'relative' },
      ['/home/a/.config', '/home/a/.cache', '/home/a/.local/state'],
    ],
  ] as const)('are in folders of the XDG Base Directory Specification on %s with %j', (platform, env, folders) => {
    const [config, cache, state] = folders.map((folder) => `${folder}/keyplane`)
    expect(configFile({ env }, platform)).toBe(`${config}/config.json`)
    expect([cacheFolder({ env }, platform), stateFolder({ env }, platform)]).toEqual([cache, state])
  })

  test('are in folders of the application on Windows', () => {
    expect(configFile({ env: WINDOWS }, 'win32')).toBe('C:\\Roaming\\keyplane\\config.json')
    expect(cacheFolder({ env: WINDOWS }, 'win32')).toBe('C:\\Local\\keyplane\\cache')
    expect(stateFolder({ env: WINDOWS }, 'win32')).toBe('C:\\Local\\keyplane\\state')
  })

  test.each(['linux', 'win32'] as const)(
    'keep a new value apart from the cache, which logging out removes, on %s',
    (platform) => {
      const [cache, state] = [cacheFolder, stateFolder].map((folder) => folder({ env: WINDOWS }, platform))
      expect(state?.startsWith(cache ?? '')).toBe(false)
      expect(cache?.startsWith(state ?? '')).toBe(false)
    },
  )

  test('are in the file that KEYPLANE_CONFIG names', () =>
    expect(configFile({ env: { KEYPLANE_CONFIG: 'here.json', HOME: '/home/a' } }, 'linux')).toBe('here.json'))
})
