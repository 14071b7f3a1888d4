"""The desk: review and explore in the browser.

`app.make_app` puts together what every section needs: who may enter (`doors`), what requests are
refused (`security`), pages and pictures. `serving` starts and stops it. A section is a folder with
its routes, its templates in templates/SECTION and its scripts in static/SECTION.
"""
