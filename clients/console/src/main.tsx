import { render } from 'preact'
import { takeReturned } from './session/federatedsignin.ts'
import { App } from './shell/app.tsx'
import { keepFocus } from './shell/keepfocus.ts'

// The code in the address goes before anything else looks at it.
const returned = takeReturned()
const place = document.getElementById('console')
if (place) {
  render(<App returned={returned} />, place)
  keepFocus(place)
}
