// Runs before the scripts of every page: the same page must render the same way twice, and has no other way out.
(() => {
  let state = 0x2545f491;
  Math.random = () => {
    state ^= state << 13; state ^= state >>> 17; state ^= state << 5;
    return (state >>> 0) / 4294967296;
  };
  for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "RTCDataChannel", "WebTransport",
    "SharedWorker", "EventSource", "Notification"]) {
    try { delete window[name]; } catch (error) { /* not configurable */ }
  }
  const define = (target, name, value) => {
    try { Object.defineProperty(target, name, { get: () => value, configurable: true }); } catch (error) { /* fixed */ }
  };
  define(Navigator.prototype, "onLine", true);
  Navigator.prototype.sendBeacon = () => true;
  window.open = () => null;
  window.print = () => undefined;
})();
