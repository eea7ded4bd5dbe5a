"""The web app: search page, dashboard, changes, behaviour tracker."""
