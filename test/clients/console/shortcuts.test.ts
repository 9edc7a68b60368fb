/** Which keys press a shortcut. */
import { describe, expect, test } from 'vitest'
import { isPressed, type Pressed, type ShortcutName, shortcuts } from '../../../clients/console/src/text/shortcuts.ts'

const names = Object.keys(shortcuts) as ShortcutName[]
const pressed = (key: string, held: Partial<Pressed> = {}, isTyping = false) => {
  const event = { key, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...held }
  return names.filter((name) => isPressed(name, event, isTyping))
}

describe('a key', () => {
  test.each<[string, Partial<Pressed>, ShortcutName[]]>([
    ['/', {}, ['filter']],
    // As on a German keyboard.
    ['/', { shiftKey: true }, ['filter']],
    ['?', { shiftKey: true }, ['help']],
    ['?', {}, ['help']],
    ['k', { ctrlKey: true }, ['palette']],
    ['K', { metaKey: true }, ['palette']],
    ['k', {}, []],
    ['k', { ctrlKey: true, metaKey: true }, []],
    ['k', { ctrlKey: true, shiftKey: true }, []],
    ['k', { ctrlKey: true, altKey: true }, []],
    ['/', { ctrlKey: true }, []],
    ['?', { metaKey: true }, []],
    ['?', { altKey: true }, []],
    ['a', {}, []],
  ])('%s with %j presses %j', (key, held, expected) => expect(pressed(key, held)).toEqual(expected))

  test('that somebody types presses nothing but Cmd-K', () => {
    const keys = ['/', '?', 'k']
    const holds = [{}, { shiftKey: true }, { ctrlKey: true }]
    expect(keys.flatMap((key) => holds.flatMap((held) => pressed(key, held, true)))).toEqual([])
    expect(pressed('k', { metaKey: true }, true)).toEqual(['palette'])
  })
})
