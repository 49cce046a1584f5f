/** The button of the extension: asks the page to open or close devtools. A page that offers none gets a mark on the button. */
chrome.action.onClicked.addListener(async ({ id: tabId }) => {
  const [answer] = await chrome.scripting.executeScript({
    target: { tabId },
    func: () => !document.dispatchEvent(new CustomEvent('pannier-devtools', { cancelable: true })),
  })
  const isOffered = answer?.result === true
  await chrome.action.setBadgeText({ tabId, text: isOffered ? '' : '–' })
  await chrome.action.setTitle({
    tabId,
    title: isOffered ? 'Pannier devtools' : 'This page offers no devtools: call offerDevtools() in the app.',
  })
})
